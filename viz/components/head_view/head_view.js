// The bipartite head view: queries left, keys right, a line for each weight. Python sends all heads of a layer once;
// heads, threshold and tokens are switched here, at once, and Python hears of it afterwards.

const HINT =
  "Point at a token for its weights; a click pins it. A double click on a square leaves only that head. " +
  "Keys: arrows move, Enter pins, Escape lets go; O on a square leaves only that head.";
const PAUSE_MS = 250; // sliding and switching come in runs: Python hears where a run ends

export default mounted((host) => new HeadView(host));

class HeadView extends View {
  handshake = new Handshake("shown", (shown) => shown);

  constructor(host) {
    super();
    this.squares = make("div", "squares", { role: "group", "aria-label": "Heads" });
    const range = { type: "range", min: 5, max: 100, step: 5 };
    this.slider = make("input", "", { ...range, "aria-label": "Strongest lines that hold" });
    this.lineCount = make("output", "", { "data-testid": "head-count" });
    const mass = make("label", "mass");
    mass.append("Strongest lines that hold ", this.slider, this.lineCount);
    this.svg = draw("svg", { class: "lines", role: "group" });
    this.all = draw("g", { "aria-hidden": true });
    this.few = draw("g", { "aria-hidden": true });
    this.frame = make("div", "frame");
    this.frame.append(this.svg);
    this.summary = make("p", "caption", { "aria-live": "polite", "data-testid": "head-summary" });
    this.root = make("div", "view head-view");
    this.root.append(this.squares, mass, this.frame, this.summary, make("p", "hint", {}, HINT), this.saving());
    this.listen();
    this.enter(host);
    this.watch(this.frame, () => this.layOut());
  }

  get shown() {
    return this.handshake.value;
  }

  listen() {
    const tokenOf = ({ target }) => {
      const group = target.closest?.(".token");
      return group ? { side: group.dataset.side, index: Number(group.dataset.index) } : null;
    };
    this.slider.addEventListener("input", () => this.change({ mass: Number(this.slider.value) }, PAUSE_MS));
    this.svg.addEventListener("pointerover", (event) => this.activate({ hovered: tokenOf(event) }));
    this.svg.addEventListener("pointerleave", () => this.activate({ hovered: null }));
    this.svg.addEventListener("focusin", (event) => {
      if (event.target.matches(":focus-visible")) this.activate({ focused: tokenOf(event), hovered: null });
    });
    this.svg.addEventListener("focusout", () => this.activate({ focused: null }));
    this.svg.addEventListener("click", (event) => tokenOf(event) && this.pin(tokenOf(event)));
    this.svg.addEventListener("keydown", (event) => this.onTokenKey(event, tokenOf(event)));
  }

  saving() {
    const name = () => this.view.header.name;
    const group = saveGroup("the lines", () => this.svg, name);
    const saveCsv = () => {
      saveBlob(new Blob([linesCsv(this.view, this.linesNow())], { type: "text/csv" }), `${name()}.csv`);
    };
    group.append(makeButton("save", {}, "CSV of the lines shown", saveCsv));
    return group;
  }

  receive(data, setStateValue) {
    const { header } = (this.view = readView(data));
    if (this.handshake.follow(header, header.shown, setStateValue)) this.hovered = this.focused = null;
    const drawn = JSON.stringify([header.digest, header.colors]);
    if (drawn !== this.drawn) this.build();
    this.drawn = drawn;
    this.refresh();
  }

  build() {
    const { header, heads } = this.view;
    this.svg.replaceChildren(this.all, this.few);
    this.svg.setAttribute("aria-label", `${header.title}: ${header.names.query} left, ${header.names.key} right`);
    this.columns = new Columns(this.svg, header);
    this.squareOf = Array.from({ length: heads }, (_, head) => this.makeSquare(head));
    const every = () => this.change({ heads: this.squareOf.map((_, head) => head) }, PAUSE_MS);
    this.squares.replaceChildren("Heads ", ...this.squareOf, makeButton("every", {}, "All", every));
    this.place = undefined;
  }

  makeSquare(head) {
    const name = { "aria-label": `Head ${head + 1}`, title: `Head ${head + 1}; double click: only this one` };
    const square = makeButton("square", { "data-testid": "head-square", ...name }, `${head + 1}`, () => this.toggle(head));
    const { colors } = this.view.header;
    setColours(square, { head: colors[head % colors.length] });
    const only = () => this.change({ heads: [head] }, PAUSE_MS);
    square.addEventListener("dblclick", only);
    square.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "o" || hasModifier(event)) return;
      event.preventDefault();
      event.stopPropagation();
      only();
    });
    return square;
  }

  toggle(head) {
    const others = this.shown.heads.filter((on) => on !== head);
    const wasOn = others.length < this.shown.heads.length;
    this.change({ heads: wasOn ? others : [...others, head].sort((a, b) => a - b) }, PAUSE_MS);
  }

  // A second click on the pinned token lets it go. In self-attention both sides are the same sentence.
  pin(token) {
    const same = token && this.shown.pin === token.side && this.shown[token.side] === token.index;
    if (!token || same) return this.change({ pin: null });
    const marks = this.view.header.self ? { query: token.index, key: token.index } : { [token.side]: token.index };
    this.change({ ...marks, pin: token.side });
  }

  change(change, pause = 0) {
    this.handshake.set({ ...this.shown, ...change });
    this.refresh();
    this.handshake.report(pause);
  }

  get pinned() {
    const { pin } = this.shown;
    return pin ? { side: pin, index: this.shown[pin] } : null;
  }

  get active() {
    return this.hovered ?? this.focused ?? this.pinned;
  }

  linesNow(only = this.pinned) {
    return shownLines(this.view, this.kept, this.shown.heads, only);
  }

  activate(change) {
    Object.assign(this, change);
    this.light();
  }

  // All that depends on heads and threshold; then the lines, where there is room for them.
  refresh() {
    const { heads, mass } = this.shown;
    const { allowed } = this.view;
    this.kept = strongestLines(this.view, mass);
    this.squareOf.forEach((square, head) => square.setAttribute("aria-pressed", heads.includes(head)));
    this.slider.value = mass;
    this.slider.setAttribute("aria-valuetext", `${mass} % of each row's weight`);
    const count = shownLines(this.view, this.kept, heads).length;
    const cells = allowed.reduce((sum, cell) => sum + cell, 0) * heads.length;
    this.lineCount.textContent = ` ${mass} % of each row: showing ${count} of ${cells} lines`;
    if (this.place) this.draw();
    else this.layOut();
  }

  layOut() {
    const width = this.frame.clientWidth;
    if (!width || !this.columns) return;
    this.place = this.columns.place(width, getComputedStyle(this.root).fontFamily);
    sized(this.svg, width, this.place.height);
    this.draw();
  }

  draw() {
    drawLines(this.all, this.view, this.linesNow(null), this.shown.heads, this.place);
    this.light();
  }

  // The token that is pointed at, focused or pinned leaves only its lines.
  light() {
    const { active, shown, place, view } = this;
    if (!place) return;
    this.all.setAttribute("display", active ? "none" : "inline");
    const lines = active ? shownLines(view, this.kept, shown.heads, active) : [];
    drawLines(this.few, view, lines, shown.heads, place);
    const weights = active && shown.heads.length ? weightsBeside(view, shown.heads, active) : undefined;
    const focusable = this.focused ?? this.pinned ?? { side: "query", index: 0 };
    this.columns.show({ active, pinned: this.pinned, marked: shown, weights, focusable });
    const parts = summarise(view, shown, active, weights, this.linesNow(null));
    this.summary.replaceChildren(...sentenceOf(parts));
  }

  onTokenKey(event, token) {
    if (!token || hasModifier(event)) return;
    const { side, index } = token;
    const size = { query: this.view.rows, key: this.view.columns };
    const across = [other(side), Math.min(index, size[other(side)] - 1)];
    const moves = {
      ArrowUp: [side, Math.max(index - 1, 0)],
      ArrowDown: [side, Math.min(index + 1, size[side] - 1)],
      Home: [side, 0],
      End: [side, size[side] - 1],
      ArrowLeft: side === "key" ? across : [side, index],
      ArrowRight: side === "query" ? across : [side, index],
    };
    if (moves[event.key]) this.columns.focus(...moves[event.key]);
    else if (isPress(event)) this.pin(token);
    else if (event.key === "Escape") this.pin(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The view's main numbers in a sentence, in parts, every second one the text of a token. */
function summarise({ header, heads: count, weights }, { heads }, active, beside, lines) {
  if (!heads.length) return ["No head is switched on: press a square."];
  const several = heads.length === count ? `all ${count}` : `${heads.length} of ${count}`;
  const which = heads.length === 1 ? `head ${heads[0] + 1}` : `mean of ${several} heads`;
  if (!active) {
    const best = strongestOf({ weights }, lines);
    if (!best) return ["No line holds any weight."];
    const start = `Strongest line: ${weights[best.at].toFixed(2)} in head ${best.head + 1}, from `;
    return [start, header.queries[best.row].full, " to ", header.keys[best.key].full, "."];
  }
  const query = active.side === "query";
  const [own, others] = query ? [header.queries, header.keys] : [header.keys, header.queries];
  const token = own[active.index];
  const predicts = token.predictsFull === undefined ? [] : [", which predicts ", token.predictsFull];
  const verb = `, ${query ? "looks at" : "is looked at by"} (${which}): `;
  const parts = [`${query ? "Query" : "Key"} ${active.index + 1}, `, token.full, ...predicts, verb];
  const best = beside.map((weight, index) => ({ weight, index })).filter(({ weight }) => !Number.isNaN(weight));
  best.sort((a, b) => b.weight - a.weight);
  for (const { weight, index } of best.slice(0, 3)) parts.push(others[index].full, ` ${weight.toFixed(2)}, `);
  parts[parts.length - 1] = parts.at(-1).replace(/, $/, ".");
  return parts;
}
