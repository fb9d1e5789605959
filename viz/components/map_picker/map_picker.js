// Thumbnails of all attention maps. Python sends them once a trace (pack.py says how); choosing happens here, at once,
// and Python hears of it afterwards. A token is data: it goes into the page by textContent and attributes only.

const KEYBOARD_PAUSE_MS = 120; // arrow keys come in runs: Python hears where a run ends

export default mounted((host) => new Picker(host));

class Picker extends View {
  handshake = new Handshake("choice", (choice) => choice);

  constructor(host) {
    super();
    this.tabs = Object.keys(SITES).map((site) => this.makeTab(site));
    this.grid = make("div", "grid", { role: "grid" });
    this.caption = make("p", "caption");
    this.root = make("div", "view picker");
    const saving = saveGroup("all maps", () => this.grid, () => `${this.name}-${this.choice.site.replace("_", "-")}`);
    this.root.append(make("div", "tabs", { role: "tablist", "aria-label": "Attention" }), this.grid, this.caption, saving);
    this.root.firstChild.append(...this.tabs);
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.addEventListener("pointerover", ({ target }) => this.describe(target.closest(".cell")));
    this.grid.addEventListener("pointerleave", () => this.describe(null));
    this.enter(host);
    this.watch(this.grid, () => this.paintAll());
  }

  get choice() {
    return this.handshake.value;
  }

  receive(data, setStateValue) {
    const [header, packed] = splitLine(data);
    const [{ digest, shapes }, deflated] = splitLine(packed);
    this.name = header.name;
    const { scale, hatch } = ofTheme(this.root, header.colors);
    this.colors = pixelsOf(colourLevels(scale, LEVELS));
    setColours(this.root, { hatch });
    this.handshake.follow(header, header.choice, setStateValue);
    if (digest === this.digest) return this.show();
    this.digest = digest;
    this.shapes = shapes;
    this.maps = undefined;
    this.show();
    readMaps(deflated, shapes).then(
      (maps) => digest === this.digest && ((this.maps = maps), this.show()),
      () => (this.caption.textContent = "The maps did not arrive whole: reload the page."),
    );
  }

  choose(change, pause = 0) {
    const choice = { ...this.choice, ...change };
    const [layers, heads] = this.shapes[choice.site];
    choice.layer = Math.min(choice.layer, layers - 1);
    if (choice.head >= heads) choice.head = null;
    const changed = Object.keys(choice).some((name) => choice[name] !== this.choice[name]);
    if (!changed) return;
    this.handshake.set(choice);
    this.show();
    this.handshake.report(pause);
  }

  show() {
    const { site } = this.choice;
    const [layers, heads] = this.shapes[site];
    for (const tab of this.tabs) {
      const chosen = tab.dataset.site === site;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.buildCells(layers, heads);
    this.grid.setAttribute("aria-label", `${SITES[site]}: layers down, heads across`);
    this.paintAll();
    this.frame();
  }

  frame() {
    const { layer, head } = this.choice;
    const chosen = this.cellAt(layer, head ?? this.heads);
    for (const cell of this.cells) {
      if ((cell === chosen) === (cell.getAttribute("aria-selected") === "true")) continue;
      cell.setAttribute("aria-selected", cell === chosen);
      cell.tabIndex = cell === chosen ? 0 : -1;
    }
    this.describe();
  }

  cellAt(layer, column) {
    return this.cells[layer * (this.heads + 1) + column];
  }

  buildCells(layers, heads) {
    if (this.layers === layers && this.heads === heads) return;
    Object.assign(this, { layers, heads, cells: [], painted: undefined, pointed: null });
    const numbers = Array.from({ length: heads }, (_, head) => `${head + 1}`);
    this.grid.style.setProperty("--columns", heads + 1);
    this.grid.replaceChildren(makeRow("columnheader", "Head", [...numbers, "mean"].map(makeHeading)));
    for (let layer = 0; layer < layers; layer++) {
      const cells = [...numbers, "mean"].map((_, head) => this.makeCell(layer, head));
      this.cells.push(...cells);
      this.grid.append(makeRow("rowheader", `Layer ${layer + 1}`, cells));
    }
  }

  makeCell(layer, column) {
    const cell = make("div", "cell", { role: "gridcell", "aria-selected": false, tabindex: -1 });
    const head = column < this.heads ? column : null;
    Object.assign(cell.dataset, { testid: "map-cell", layer, head: head ?? "mean" });
    cell.append(document.createElement("canvas"));
    cell.addEventListener("click", () => {
      this.choose({ layer, head });
      cell.focus({ preventScroll: true });
    });
    return cell;
  }

  makeTab(site) {
    const tab = makeButton("tab", { role: "tab", "aria-label": SITES[site] }, "", () => this.choose({ site }));
    const [name] = SITES[site].split("-attention");
    tab.append(name, make("span", "rest", {}, "-attention")); // narrow pages hide the rest
    Object.assign(tab.dataset, { testid: "map-site", site });
    return tab;
  }

  // Paints and labels all cells, if anything changed that they depend on.
  paintAll() {
    const size = Math.round(this.cells?.[0].clientWidth * devicePixelRatio);
    const { site } = this.choice;
    const state = [this.digest, site, size, this.colors[LEVELS], this.colors[0]].join();
    if (!this.maps || !size || state === this.painted) return;
    this.painted = state;
    const map = this.maps[site];
    for (const cell of this.cells) {
      const [layer, column] = this.placeOf(cell);
      paint(cell.firstChild, size, map, rootsOf(map, layer, column), this.colors);
      cell.setAttribute("aria-label", this.sentence(layer, column).join(""));
    }
    this.describe();
  }

  placeOf({ dataset: { layer, head } }) {
    return [Number(layer), head === "mean" ? this.heads : Number(head)];
  }

  // In parts, every second one the text of a token.
  sentence(layer, column) {
    const { queries, keys, strongest } = this.maps[this.choice.site];
    const [query, key, weight] = strongest[layer][column];
    const name = column < this.heads ? `head ${column + 1}` : `mean of ${counted(this.heads, "head")}`;
    const start = `Layer ${layer + 1}, ${name}: strongest weight ${weight.toFixed(2)}, from `;
    return [start, queries[query], " to ", keys[key]];
  }

  // Below the grid: the cell that is pointed at, else the chosen one.
  describe(pointed = this.pointed) {
    this.pointed = pointed;
    const cell = pointed ?? this.grid.querySelector('[aria-selected="true"]');
    if (!this.maps || !cell) return;
    const parts = this.sentence(...this.placeOf(cell));
    this.caption.replaceChildren(...sentenceOf(parts));
  }

  onKey(event) {
    if (hasModifier(event)) return;
    const onTab = event.target.closest?.(".tab");
    const move = onTab ? this.tabAfter(event.key) : this.cellAfter(event.key);
    if (!move) return;
    event.preventDefault();
    this.choose(move, KEYBOARD_PAUSE_MS);
    this.root.querySelector(`${onTab ? ".tab" : ".cell"}[aria-selected="true"]`).focus();
  }

  tabAfter(key) {
    const sites = Object.keys(SITES);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    return step && { site: sites[(sites.indexOf(this.choice.site) + step + sites.length) % sites.length] };
  }

  cellAfter(key) {
    const { layer, head } = this.choice;
    const column = head ?? this.heads;
    const places = {
      ArrowLeft: [layer, column - 1],
      ArrowRight: [layer, column + 1],
      ArrowUp: [layer - 1, column],
      ArrowDown: [layer + 1, column],
      Home: [layer, 0],
      End: [layer, this.heads],
    };
    if (!places[key]) return undefined;
    const [row, place] = places[key].map((n, axis) => Math.max(0, Math.min(n, axis ? this.heads : this.layers - 1)));
    return { layer: row, head: place < this.heads ? place : null };
  }
}

function makeHeading(text) {
  const label = text === "mean" ? "Mean of the heads" : `Head ${text}`;
  return make("div", "heading", { role: "columnheader", "aria-label": label }, text);
}

function makeRow(role, title, cells) {
  const row = make("div", "row", { role: "row" });
  row.append(make("div", "title", { role }, title), ...cells);
  return row;
}
