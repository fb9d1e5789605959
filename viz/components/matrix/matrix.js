// A matrix that one can point at and choose a cell of. Python sends values as bytes (pack.py says how) and hears which
// cell is picked. A label is data: it goes into the page by textContent, attributes and the canvas only.

export default mounted((host) => new Matrix(host));

class Matrix extends View {
  handshake = new Handshake("cell", ([row, column]) => ({ row, column, number: Date.now() }));

  constructor(host) {
    super();
    this.canvas = make("canvas", "");
    this.frames = { pointed: make("div", "frame pointed"), chosen: make("div", "frame chosen") };
    this.frames.cursor = make("div", "frame cursor");
    this.bands = { row: make("div", "frame band"), column: make("div", "frame band") };
    this.stage = make("div", "stage", { role: "application", tabindex: 0, "aria-roledescription": "matrix" });
    this.stage.append(this.canvas, ...Object.values(this.bands), ...Object.values(this.frames));
    this.caption = make("p", "caption", { role: "status" });
    this.saves = saveButtons("the matrix", () => this.canvas, () => this.spec.file);
    this.root = make("div", "view matrix", { "data-testid": "matrix" });
    this.root.append(this.stage, make("div", "below"));
    this.root.lastChild.append(this.caption, ...this.saves);
    this.cursor = this.pointed = null;
    this.listen();
    this.enter(host);
    this.watch(this.root, () => this.draw());
  }

  /** The chosen cell as [row, column]; null where the matrix does not have it. */
  get pick() {
    return this.has(this.handshake.value) ? this.handshake.value : null;
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => this.point(this.cellAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell) this.choose(cell);
    });
    this.stage.addEventListener("keydown", (event) => this.onKey(event));
    for (const change of ["focus", "blur"]) this.stage.addEventListener(change, () => this.show());
  }

  receive(data, setStateValue) {
    const [spec, rest] = splitLine(data);
    const bytes = rest.slice(); // a copy, since floats must be aligned
    const count = spec.shape[0] * spec.shape[1];
    this.spec = spec;
    this.values = new Float32Array(bytes.buffer, bytes.byteOffset, count);
    const masked = bytes.length > 4 * count ? bytes.subarray(4 * count) : new Uint8Array(count);
    this.masked = masked;
    this.drawing = new Drawing(this.canvas, spec, this.values, masked, ofTheme(this.root, spec.colors));
    this.handshake.follow(spec, spec.selected, setStateValue);
    if (!this.has(this.cursor)) this.cursor = this.pick;
    this.stage.setAttribute("aria-label", `${spec.alt} Arrow keys move, Enter chooses a cell.`);
    for (const save of this.saves) save.setAttribute("aria-label", `Save ${spec.name} as ${save.textContent}`);
    [this.root.dataset.low, this.root.dataset.high] = spec.limits;
    this.root.dataset.name = spec.name;
    this.pointed = null;
    this.draw();
  }

  has(cell) {
    return Boolean(cell) && cell.every((n, axis) => n >= 0 && n < this.spec.shape[axis]);
  }

  choose(cell) {
    this.cursor = cell;
    this.handshake.set(cell);
    this.show();
    this.handshake.report();
  }

  point(cell) {
    if (`${cell}` === `${this.pointed}`) return;
    this.pointed = cell;
    this.show();
  }

  draw() {
    const width = Math.floor(this.root.clientWidth);
    if (!width || !this.drawing) return;
    this.drawing.draw(width, this.root);
    this.show();
  }

  cellAt({ offsetX, offsetY }) {
    const at = this.drawing?.at;
    if (!at) return null;
    const cell = [Math.floor((offsetY - at.top) / at.cellHeight), Math.floor((offsetX - at.left) / at.cellWidth)];
    return this.has(cell) ? cell : null;
  }

  show() {
    const at = this.drawing?.at;
    if (!at) return;
    const focused = this.stage.matches(":focus-visible");
    const cells = { pointed: this.pointed, chosen: this.pick, cursor: this.cursor ?? [0, 0] };
    for (const [name, cell] of Object.entries(cells)) this.place(this.frames[name], cell, at);
    const [rows, columns] = this.spec.shape;
    this.place(this.bands.row, this.spec.row === null ? null : [this.spec.row, 0], at, [1, columns]);
    const [first, end] = [this.spec.column].flat();
    this.place(this.bands.column, first === null ? null : [0, first], at, [rows, (end ?? first + 1) - first]);
    const [row, column] = this.pick ?? ["", ""];
    Object.assign(this.root.dataset, { row, column });
    this.describe(this.pointed ?? (focused ? cells.cursor : this.pick));
  }

  // A frame stays large enough to be seen where a cell is a pixel wide.
  place(frame, cell, at, span = [1, 1]) {
    frame.hidden = !cell;
    if (!cell) return;
    const [height, width] = [Math.max(span[0] * at.cellHeight, 3), Math.max(span[1] * at.cellWidth, 3)];
    const x = at.left + (cell[1] + span[1] / 2) * at.cellWidth - width / 2;
    const y = at.top + (cell[0] + span[0] / 2) * at.cellHeight - height / 2;
    Object.assign(frame.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  }

  describe(cell) {
    if (!cell) {
      const [rows, columns] = this.spec.shape;
      return this.caption.replaceChildren(`${rows} × ${columns}`);
    }
    const [row, column] = cell;
    const i = row * this.spec.shape[1] + column;
    const value = full(this.values[i]) + (this.masked[i] ? " (masked)" : "");
    const parts = [...this.named("row", row), ", ", ...this.named("column", column), ": ", make("strong", "", {}, value)];
    this.caption.replaceChildren(...parts);
  }

  named(axis, index) {
    const label = this.spec[`${axis}s`]?.[index];
    const number = `${axis} ${index + 1}`;
    return label && label !== `${index + 1}` ? [`${number} `, make("bdi", "", {}, label)] : [number];
  }

  onKey(event) {
    if (hasModifier(event)) return;
    const [row, column] = this.cursor ?? [0, 0];
    const [lastRow, lastColumn] = this.spec.shape.map((size) => size - 1);
    const places = {
      ArrowLeft: [row, Math.max(0, column - 1)],
      ArrowRight: [row, Math.min(lastColumn, column + 1)],
      ArrowUp: [Math.max(0, row - 1), column],
      ArrowDown: [Math.min(lastRow, row + 1), column],
      Home: [row, 0],
      End: [row, lastColumn],
    };
    if (isPress(event)) this.choose([row, column]);
    else if (places[event.key]) this.cursor = places[event.key];
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page around may listen to arrow keys too
    this.pointed = null;
    this.show();
  }
}
