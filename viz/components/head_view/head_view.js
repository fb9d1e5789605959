// The bipartite head view: queries left, keys right, a line for each weight. Python sends all heads of a layer once;
// heads, threshold and tokens are switched here, at once, and Python is told afterwards.

const HINT =
  "Point at a token for its weights; a click pins it. A double click on a square leaves only that head. " +
  "Keys: arrows move, Enter pins, Escape lets go; O on a square leaves only that head.";
const PAUSE_MS = 250; // sliding and switching come in runs: Python hears where a run ends

const lastShown = new Map(); // by the caller's key: what a view showed that the page has since mounted anew

export default mounted((host) => new HeadView(host));

class HeadView {
  constructor(host) {
    this.squares = make("div", "squares", { role: "group", "aria-label": "Heads" });
    const range = { type: "range", min: 5, max: 100, step: 5 };
    this.slider = make("input", "", { ...range, "aria-label": "Strongest lines that hold" });
    this.told = make("output", "told", { "data-testid": "head-count" });
    const mass = make("label", "mass");
    mass.append("Strongest lines that hold ", this.slider, this.told);
    this.svg = draw("svg", { class: "lines", role: "group" });
    this.all = draw("g", { "aria-hidden": true });
    this.few = draw("g", { "aria-hidden": true });
    this.frame = make("div", "frame");
    this.frame.append(this.svg);
    this.summary = make("p", "summary", { "aria-live": "polite", "data-testid": "head-summary" });
    this.root = make("div", "head-view");
    this.root.append(this.squares, mass, this.frame, this.summary, make("p", "hint", {}, HINT), this.saving());
    this.listen();
    this.sizes = new ResizeObserver(() => this.layOut());
    this.sizes.observe(this.frame);
    host.append(this.root);
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
    const row = make("div", "saving", { role: "group", "aria-label": "Save" });
    const name = () => this.view.told.name;
    const csv = make("button", "save", { type: "button" }, "CSV of the lines shown");
    csv.addEventListener("click", () => {
      saveBlob(new Blob([linesCsv(this.view, this.linesNow())], { type: "text/csv" }), `${name()}.csv`);
    });
    row.append(...saveButtons("the lines", () => this.svg, name), csv);
    return row;
  }

  remove() {
    clearTimeout(this.pending);
    this.sizes.disconnect();
    this.root.remove();
  }

  // Called when the page first shows the component and after each of its runs.
  receive(data, setStateValue) {
    this.setStateValue = setStateValue;
    const { told } = (this.view = readView(data));
    if (this.token !== told.token) {
      const last = this.token === undefined && lastShown.get(told.key);
      clearTimeout(this.pending);
      this.shown = last?.token === told.token ? last.shown : told.shown;
      Object.assign(this, { token: told.token, hovered: null, focused: null });
      lastShown.set(told.key, { token: told.token, shown: this.shown });
    }
    const drawn = JSON.stringify([told.digest, told.colors]);
    if (drawn !== this.drawn) this.build();
    this.drawn = drawn;
    this.refresh();
  }

  build() {
    const { told, heads } = this.view;
    this.svg.replaceChildren(this.all, this.few);
    this.svg.setAttribute("aria-label", `${told.title}: ${told.names.query} left, ${told.names.key} right`);
    this.columns = new Columns(this.svg, told);
    this.squareOf = Array.from({ length: heads }, (_, head) => this.makeSquare(head));
    const all = make("button", "every", { type: "button" }, "All");
    all.addEventListener("click", () => this.change({ heads: this.squareOf.map((_, head) => head) }, PAUSE_MS));
    this.squares.replaceChildren("Heads ", ...this.squareOf, all);
    this.place = undefined;
  }

  makeSquare(head) {
    const name = { "aria-label": `Head ${head + 1}`, title: `Head ${head + 1}; double click: only this one` };
    const attributes = { type: "button", class: "square", "data-testid": "head-square", ...name };
    const square = make("button", "", attributes, `${head + 1}`);
    const { colors } = this.view.told;
    square.style.setProperty("--head", colors[head % colors.length]);
    const only = () => this.change({ heads: [head] }, PAUSE_MS);
    square.addEventListener("click", () => this.toggle(head));
    square.addEventListener("dblclick", only);
    square.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "o" || event.ctrlKey || event.metaKey || event.altKey) return;
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
    const marks = this.view.told.self ? { query: token.index, key: token.index } : { [token.side]: token.index };
    this.change({ ...marks, pin: token.side });
  }

  change(change, pause = 0) {
    const shown = { ...this.shown, ...change };
    this.shown = shown;
    lastShown.set(this.view.told.key, { token: this.token, shown });
    this.refresh();
    clearTimeout(this.pending);
    const tell = () => this.setStateValue("shown", { ...shown, token: this.token });
    if (pause) this.pending = setTimeout(tell, pause);
    else tell();
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
    const { told, weights, allowed } = this.view;
    this.kept = strongestLines(this.view, mass);
    this.squareOf.forEach((square, head) => square.setAttribute("aria-pressed", heads.includes(head)));
    this.slider.value = mass;
    this.slider.setAttribute("aria-valuetext", `${mass} % of each row's weight`);
    const count = shownLines(this.view, this.kept, heads).length;
    const cells = allowed.reduce((sum, cell) => sum + cell, 0) * heads.length;
    this.told.textContent = ` ${mass} % of each row: showing ${count} of ${cells} lines`;
    if (this.place) this.draw();
    else this.layOut();
  }

  layOut() {
    const width = this.frame.clientWidth;
    if (!width || !this.columns) return;
    this.place = this.columns.place(width, getComputedStyle(this.root).fontFamily);
    const { height } = this.place;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
      this.svg.setAttribute(name, value);
    }
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
    this.summary.replaceChildren(...parts.map((text, i) => make(i % 2 ? "bdi" : "span", "", {}, text)));
  }

  onTokenKey(event, token) {
    if (!token || event.ctrlKey || event.altKey || event.metaKey) return;
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
    else if (event.key === "Enter" || event.key === " ") this.pin(token);
    else if (event.key === "Escape") this.pin(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The view's main numbers in a sentence, in parts, every second one the text of a token. */
function summarise({ told, heads: count, weights }, { heads }, active, beside, lines) {
  if (!heads.length) return ["No head is switched on: press a square."];
  const several = heads.length === count ? `all ${count}` : `${heads.length} of ${count}`;
  const which = heads.length === 1 ? `head ${heads[0] + 1}` : `mean of ${several} heads`;
  if (!active) {
    const best = strongestOf({ weights }, lines);
    if (!best) return ["No line holds any weight."];
    const start = `Strongest line: ${weights[best.at].toFixed(2)} in head ${best.head + 1}, from `;
    return [start, told.queries[best.row].full, " to ", told.keys[best.key].full, "."];
  }
  const query = active.side === "query";
  const [own, others] = query ? [told.queries, told.keys] : [told.keys, told.queries];
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
