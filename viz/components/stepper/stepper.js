// The steps of a translation. Python sends all of them once; moving happens here, and Python hears where it settles.
// A token is data: it goes into the page by textContent and attributes only.

const SETTLE_MS = 300;
const PLAY_MS = 1000;

export default mounted((host) => new Stepper(host));

/** What sampling leaves of the pieces; nothing where nothing is drawn. */
function drawInWords(draw) {
  if (!draw) return "";
  const left = draw.count === 1 ? "the one piece that temperature, top k and top p leave" : `the ${draw.count.toLocaleString("en")} pieces that temperature, top k and top p leave`;
  return ` Sampling draws from ${left}: an outline is the share with which a piece is drawn, ✗ is cut off.`;
}

class Stepper extends View {
  handshake = new Handshake("at", (step) => ({ step }));

  constructor(host) {
    super();
    this.root = make("div", "view stepper", { role: "group", "aria-label": "Translation step by step" });
    this.wordsSaving = this.saving(() => this.words, "pieces");
    this.root.append(this.makeTransport(), this.makeWords(), this.wordsSaving, this.makePanels());
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.enter(host);
    this.watch(this.root, () => this.root.clientWidth !== this.width && this.show());
  }

  get step() {
    return this.handshake.value;
  }

  makeTransport() {
    const bar = make("div", "transport");
    const moves = [
      ["|◀", "First step", () => this.go(0)],
      ["◀", "Step back", () => this.go(this.step - 1)],
      ["▶", "Play", () => this.toggle()],
      ["▶", "Step on", () => this.go(this.step + 1)],
      ["▶|", "Last step", () => this.go(this.count - 1)],
    ];
    this.buttons = moves.map(([sign, label, act], index) =>
      makeButton(index === 2 ? "play" : "", { "aria-label": label, title: label }, sign, act),
    );
    this.slider = make("input", "", { type: "range", min: 1, "aria-label": "Step" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
    this.place = make("span", "place", { "aria-live": "polite" });
    bar.append(...this.buttons, this.slider, this.place);
    return bar;
  }

  makeWords() {
    this.words = make("div", "words", { role: "list", "aria-label": "Pieces of the translation" });
    this.words.dataset.testid = "words";
    return this.words;
  }

  makePanels() {
    const panels = make("div", "panels");
    this.bars = draw("svg", { class: "bars", role: "group" });
    this.hint = make("p", "note");
    this.seen = make("div", "looked-at", { role: "list" });
    this.seenTitle = make("h4", "", {}, "Looks at");
    this.seenNote = make("p", "note");
    this.cache = draw("svg", { class: "cache", role: "img" });
    this.cacheNote = make("p", "note");
    this.cacheNote.dataset.testid = "cache";
    const left = make("section", "");
    left.append(make("h4", "", {}, "Next piece"), this.bars, this.hint, this.saving(() => this.bars, "next-piece"));
    const right = make("section", "");
    right.append(this.seenTitle, this.seen, this.seenNote, this.saving(() => this.seen, "cross-attention"), make("h4", "", {}, "Key/value cache"), this.cache, this.cacheNote, this.saving(() => this.cache, "cache"));
    panels.append(left, right);
    return panels;
  }

  saving(picture, label) {
    const row = make("div", "saving");
    row.append(...saveButtons(label, picture, () => `${this.name}-${label}-step${this.step + 1}`));
    return row;
  }

  remove() {
    clearInterval(this.playing);
    super.remove();
  }

  receive(data, setStateValue, setTriggerValue) {
    const [header, rest] = splitLine(data);
    const [content, cells] = splitLine(rest);
    Object.assign(this, { name: header.name, setTriggerValue, content, count: content.steps.length });
    this.weights = new Float32Array(cells.slice().buffer);
    this.colours = ofTheme(this.root, header.colours);
    this.slider.max = this.count;
    const before = `${this.drawn} ${this.step}`;
    if (this.handshake.follow(header, header.step, setStateValue)) this.pause();
    this.handshake.set(this.within(this.step));
    const drawn = `${content.digest} ${this.colours.accent}`;
    if (`${drawn} ${this.step}` === before) return; // a run that changed nothing here leaves the focus where it is
    const { bar, accent, muted, hatch } = this.colours;
    setColours(this.root, { bar, accent, muted, hatch });
    this.drawn = drawn;
    this.buildWords();
    this.show();
  }

  within(step) {
    return Math.min(Math.max(step, 0), this.count - 1);
  }

  go(step, byPerson = true) {
    const wanted = this.within(step);
    if (byPerson) this.pause();
    if (wanted === this.step) return;
    this.handshake.set(wanted);
    this.show();
    if (byPerson) this.handshake.report(SETTLE_MS);
  }

  toggle() {
    if (this.playing) {
      this.pause();
      this.handshake.report(SETTLE_MS);
      return;
    }
    if (this.step === this.count - 1) this.go(0, false);
    this.playing = setInterval(() => this.playOn(), PLAY_MS);
    this.showPlay();
  }

  playOn() {
    this.go(this.step + 1, false);
    if (this.step < this.count - 1) return;
    this.pause();
    this.handshake.report(SETTLE_MS);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.showPlay();
  }

  showPlay() {
    const [sign, label] = this.playing ? ["❚❚", "Pause"] : ["▶", "Play"];
    this.buttons[2].textContent = this.playing ? sign : "▶ Play";
    this.buttons[2].setAttribute("aria-label", label);
    this.buttons[2].title = label;
  }

  onKey(event) {
    const moves = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.count - 1 };
    if (hasModifier(event)) return;
    if (event.key in moves) {
      event.preventDefault();
      this.go(moves[event.key]);
    } else if (event.key === " " && event.target === this.slider) {
      event.preventDefault();
      this.toggle();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.moveInBars(event);
  }

  moveInBars(event) {
    const bars = [...this.bars.querySelectorAll("[tabindex]")];
    const at = bars.indexOf(event.target);
    if (at < 0) return;
    event.preventDefault();
    bars[Math.min(Math.max(at + (event.key === "ArrowUp" ? -1 : 1), 0), bars.length - 1)].focus();
  }

  buildWords() {
    this.chips = [];
    const words = wordsOf(this.content.predicted, (piece, index) => this.makeChip(piece, index), { role: "listitem" });
    const begin = make("span", "written", { role: "listitem" });
    begin.append(textOfPiece({ text: "<s>", special: true }));
    this.wordsSaving.hidden = !this.content.tinted; // without colours they are just words
    this.words.replaceChildren(begin, ...words);
  }

  makeChip(piece, index) {
    const chip = makeButton("", { tabindex: -1 }, "", () => this.go(index));
    chip.append(textOfPiece(piece));
    if (this.content.tinted) this.tintByProbability(chip, index);
    if (this.content.forced.includes(index)) chip.append(make("small", "", {}, "⚑ forced"));
    this.chips.push(chip);
    return chip;
  }

  /** The chip of a piece that a person wrote: its colour is its probability, which stands in it, too. */
  tintByProbability(chip, index) {
    const { chosen, pieces } = this.content.steps[index];
    const probability = Math.exp(pieces.find(([id]) => id === chosen)[3]);
    tint(chip, this.colours.scale, Math.sqrt(probability));
    chip.style.opacity = 1;
    chip.dataset.probability = probability.toPrecision(6);
    chip.append(make("small", "", {}, shown(probability)));
  }

  show() {
    if (!this.content || this.step === undefined) return;
    this.width = this.root.clientWidth;
    const { content, step } = this;
    const token = content.predicted[step];
    this.slider.value = step + 1;
    this.slider.setAttribute("aria-valuetext", `Step ${step + 1} of ${this.count}: ${token.text}`);
    this.place.textContent = `Step ${step + 1} of ${this.count}`;
    this.buttons[0].disabled = this.buttons[1].disabled = step === 0;
    this.buttons[3].disabled = this.buttons[4].disabled = step === this.count - 1;
    this.chips.forEach((chip, index) => {
      chip.dataset.when = index < step ? "written" : index === step ? "now" : "later";
      if (index === step) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    });
    this.showNext(content.steps[step]);
    this.showSource();
  }

  showNext(step) {
    const width = Math.max(240, Math.floor(this.bars.parentElement.clientWidth));
    const force = this.content.mayForce ? (id) => this.setTriggerValue("force", { step: this.step, id }) : null;
    const focused = [...this.bars.querySelectorAll("[tabindex]")].indexOf(this.bars.getRootNode().activeElement);
    drawBars(this.bars, step, { vocabulary: this.content.vocabulary, width, forced: this.content.forced.includes(this.step), force });
    const pressable = this.bars.querySelectorAll("[tabindex]");
    if (focused >= 0) (pressable[Math.min(focused, pressable.length - 1)] ?? this.slider).focus();
    const mark = this.content.mayForce ? " Click one, or press Enter on it, to force it and decode on from there." : "";
    const taken = this.content.tinted ? "the piece in your translation" : "the piece that was taken";
    this.hint.textContent = `Probability and its natural logarithm; ▁ begins a word, ✓ is ${taken}.${drawInWords(step.draw)}${mark}`;
  }

  showSource() {
    const { source, cache, map } = this.content;
    const weights = this.weights.subarray(this.step * source.length, (this.step + 1) * source.length);
    drawLookedAt(this.seen, source, weights, this.colours.scale);
    const [first, second] = strongestOf(source, weights);
    this.seenTitle.textContent = map;
    this.seen.setAttribute("aria-label", `${map}: most weight, ${first.weight}, on ${first.text}`);
    const then = second ? `, then ${second.weight} on “${second.text}”` : "";
    this.seenNote.textContent = `Most weight: ${first.weight} on “${first.text}”${then}. A colour stands for the weight's square root.`;
    const width = Math.max(240, Math.floor(this.cache.parentElement.clientWidth));
    drawCache(this.cache, { now: this.step, steps: this.count, source: source.length, width });
    const inWords = cacheInWords(cache, this.step, source.length).join(" ");
    this.cache.setAttribute("aria-label", inWords);
    this.cacheNote.textContent = inWords;
  }
}
