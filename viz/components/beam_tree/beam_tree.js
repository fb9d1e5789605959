// The tree of a beam search. A token is data: it goes into the page by textContent and attributes only.

export default mounted((host) => new Tree(host));

class Tree extends View {
  constructor(host) {
    super();
    this.withPruned = true;
    this.root = make("div", "view beam-tree");
    this.frame = make("div", "scroll", { role: "group", "aria-label": "Beam search as a tree; arrow keys move in it" });
    this.svg = draw("svg");
    this.caption = make("p", "caption", { "aria-live": "polite", "data-testid": "hypothesis-told" });
    this.frame.append(this.svg);
    this.root.append(this.makeHead(), this.frame, this.caption);
    this.svg.addEventListener("pointerover", (event) => this.describe(this.nodeAt(event.target)));
    this.svg.addEventListener("pointerleave", () => this.describe(this.at));
    this.svg.addEventListener("focusin", (event) => this.reach(this.nodeAt(event.target)));
    this.svg.addEventListener("click", (event) => this.take(this.nodeAt(event.target)));
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    this.enter(host);
  }

  makeHead() {
    const head = make("div", "head");
    const key = [["live", "lives on"], ["finished", "finished"], ["pruned", "pruned"]].map(([kind, text]) => {
      const entry = make("span", "entry");
      entry.append(make("span", `sample ${kind}`), text);
      return entry;
    });
    const best = make("span", "entry");
    best.append(make("span", "line best"), "★ best translation");
    const label = make("label", "entry");
    const box = make("input", "", { type: "checkbox" });
    box.checked = true;
    box.addEventListener("change", () => ((this.withPruned = box.checked), this.show()));
    label.append(box, "show pruned");
    head.append(...key, best, label, ...saveButtons("the tree", () => this.svg, () => this.name));
    return head;
  }

  receive(data, _, setTriggerValue) {
    const text = new TextDecoder().decode(data);
    this.setTriggerValue = setTriggerValue;
    const dark = isDark(this.root);
    if (text === this.text && dark === this.dark) return; // nothing new: the focus stays where it is
    const end = text.indexOf("\n");
    const { name, traced, colours } = JSON.parse(text.slice(0, end));
    const content = text.slice(end + 1);
    if (content !== this.content) {
      this.frame.scrollLeft = 0;
      this.at = undefined;
    }
    Object.assign(this, { text, dark, content, name, ...JSON.parse(content), traced: new Set(traced.map(String)) });
    setColours(this.root, dark ? colours.dark : colours.light);
    this.show();
  }

  show() {
    this.rows = layOut(this.steps, this.withPruned);
    const drawn = this.rows.flat().filter((node) => node.drawn);
    const width = 34 + this.rows.length * COLUMN;
    const height = Math.max(...drawn.map((node) => node.y)) + NODE.height + 6;
    sized(this.svg, width, height);
    const isTraced = (node) => this.traced.has(`${node.step},${node.index}`);
    const edges = drawn.map((node) => edgeOf(this.rows[node.step - 1]?.[node.parent], node, isTraced(node)));
    const titles = this.rows.map((_, step) => draw("text", { class: "number", x: 34 + step * COLUMN + NODE.width / 2, y: 12, "text-anchor": "middle" }, step < this.forced ? `${step + 1} forced` : `${step + 1}`));
    const root = draw("text", { class: "number", x: 0, y: HEAD + NODE.height / 2 + 4 }, "<s>");
    const focused = this.svg.contains(this.root.getRootNode().activeElement);
    this.nodes = new Map(drawn.map((node) => [`${node.step},${node.index}`, nodeOf(node, isTraced(node))]));
    this.svg.replaceChildren(...titles, root, ...edges.sort((a, b) => a.classList.contains("best") - b.classList.contains("best")), ...this.nodes.values());
    const last = [...drawn].reverse().find(isTraced) ?? [...drawn].reverse().find((node) => node.best) ?? drawn[0];
    this.reach(this.shownAt() ?? last);
    if (focused) this.elementOf(this.at).focus();
  }

  /** Where a person is; at the nearest ancestor that is drawn where a pruned hypothesis is not. */
  shownAt() {
    let at = this.at && this.rows[this.at.step]?.[this.at.index];
    while (at && !at.drawn) at = this.rows[at.step - 1]?.[at.parent];
    return at;
  }

  nodeAt(target) {
    const group = target.closest(".node");
    return group ? this.rows[group.dataset.step][group.dataset.index] : undefined;
  }

  elementOf(node) {
    return this.nodes.get(`${node.step},${node.index}`);
  }

  // One node can be reached by Tab: the one where the focus was last.
  reach(node) {
    if (!node) return;
    this.nodes.forEach((element) => element.setAttribute("tabindex", -1));
    this.elementOf(node).setAttribute("tabindex", 0);
    this.at = node;
    this.describe(node);
  }

  describe(node) {
    if (!node) return;
    const text = make("bdi", "", {}, node.text || "(nothing)");
    const rest = inWords(node).slice((node.text || "(nothing)").length);
    this.caption.replaceChildren(text, rest + ".");
  }

  take(node) {
    if (node) this.setTriggerValue("take", { step: node.step, index: node.index });
  }

  onKey(event) {
    const node = this.nodeAt(event.target);
    if (!node) return;
    if (isPress(event)) {
      event.preventDefault();
      this.take(node);
      return;
    }
    const next = this.nextOf(node, event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next) this.elementOf(next).focus();
  }

  /** Left: its parent. Right: its first child. Up and down: its neighbours at the step. Else undefined. */
  nextOf(node, key) {
    const row = this.rows[node.step].filter((other) => other.drawn);
    const at = row.indexOf(node);
    const following = this.rows[node.step + 1] ?? [];
    return {
      ArrowLeft: this.rows[node.step - 1]?.[node.parent] ?? null,
      ArrowRight: following.find((child) => child.drawn && child.parent === node.index) ?? null,
      ArrowUp: row[at - 1] ?? null,
      ArrowDown: row[at + 1] ?? null,
    }[key];
  }
}
