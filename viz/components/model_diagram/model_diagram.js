// The model from its inputs (bottom) to its output (top): an encoder, a decoder, and the memory between them.

const GAP = 34; // between the stacks: the memory's way
const BLOCK = 22;
const ATTENTION = 33; // with a square for each head
const STEP = 4; // between the blocks of a layer
const BETWEEN = 20; // between layers: an arrow, and the shape of what goes along it
const PAD = 6;
const NARROW = 480;
const NAMES = {
  encoder_self: "encoder self-attention",
  decoder_self: "decoder self-attention",
  cross: "cross-attention",
};

export default mounted((host) => new Diagram(host));

class Diagram extends View {
  constructor(host) {
    super();
    this.root = make("div", "view diagram");
    this.svg = draw("svg", { role: "group" });
    const buttons = make("div", "buttons");
    buttons.append(...saveButtons("the diagram", () => this.svg, () => this.data.name));
    this.root.append(this.svg, buttons);
    this.enter(host);
    this.watch(this.root, () => this.paint());
  }

  receive(data, setStateValue) {
    Object.assign(this, { data, setStateValue, width: undefined });
    this.root.dataset.testid = data.site === null ? "drawn-model" : "model-diagram";
    this.paint();
  }

  paint() {
    const width = Math.floor(this.root.clientWidth);
    if (!width || !this.data || width === this.width) return;
    const focused = this.root.getRootNode().activeElement?.dataset;
    this.width = width;
    this.narrow = width < NARROW;
    this.column = (width - GAP) / 2;
    this.svg.replaceChildren();
    const heights = this.data.stacks.map((stack) => heightOf(stack));
    const height = Math.max(...heights) + 26;
    sized(this.svg, width, height).setAttribute("aria-label", this.sentence());
    this.crossings = [];
    this.tops = this.data.stacks.map((stack, index) => this.stack(stack, index, height));
    this.memory();
    if (focused?.site) this.svg.querySelector(`[data-site="${focused.site}"][data-layer="${focused.layer}"]`)?.focus();
  }

  sentence() {
    const { site, layer, head } = this.data;
    const chosen = site === null ? "nothing" : `${NAMES[site]}, layer ${layer + 1}${head === null ? "" : `, head ${head + 1} of ${this.data.heads}`}`;
    const [encoder, decoder] = this.data.stacks;
    return `The model: encoder states ${encoder.shape}, decoder states ${decoder.shape}. Chosen: ${chosen}.`;
  }

  // From the bottom up; returns where the stack's last block ends.
  stack(stack, index, height) {
    const x = index * (this.column + GAP);
    let y = height - 12;
    this.text(x + this.column / 2, y, stack.title, "title", "middle");
    y -= 14;
    for (const block of stack.before) y = this.block(block, x, y, {}) - 4;
    stack.layers.forEach((blocks, layer) => {
      y = this.arrow(x, y, stack.shape);
      y = this.layer(blocks, x, y, layer);
    });
    if (stack.after.length) y = this.arrow(x, y, stack.shape);
    for (const block of stack.after) y = this.block(block, x, y, {}) - 4;
    return { x, y: y + 4 };
  }

  layer(blocks, x, y, layer) {
    const bottom = y;
    y -= PAD;
    for (const block of blocks) y = this.block(block, x + PAD, y, { layer, width: this.column - 2 * PAD }) - STEP;
    y -= 10;
    this.text(x + PAD + 2, y + 3, `Layer ${layer + 1}`, "layer-name");
    y -= 6;
    this.add("rect", { class: "frame", x: x + 0.5, y, width: this.column - 1, height: bottom - y, rx: 4 });
    return y;
  }

  block({ label, count, site, note }, x, y, { layer = null, width = this.column }) {
    const height = site ? ATTENTION : BLOCK;
    const top = y - height;
    const group = draw("g", {});
    group.append(draw("rect", { class: "box", x: x + 1, y: top, width: width - 2, height, rx: 3 }));
    this.text(x + 7, top + 11, label, "label", "start", group);
    const size = count ? (this.narrow ? brief(count) : count.toLocaleString("en-GB")) : "";
    this.text(x + width - 7, top + (site ? 24 : 11), [size, note].join(" ").trim(), "count", "end", group);
    if (site) this.attention(group, { label, site, layer, count }, x, top, width - 64);
    if (site === "cross") this.crossings.push([x, top + height / 2]);
    this.svg.append(group);
    return top;
  }

  attention(group, { label, site, layer, count }, x, top, room) {
    const chosen = site === this.data.site && layer === this.data.layer;
    const choosable = this.data.site !== null; // in a model that is only drawn, nothing can be chosen
    const place = { "data-site": site, "data-layer": layer };
    if (choosable) filled(group, { class: "block", "aria-pressed": chosen, "data-testid": "block", ...place });
    const step = Math.min(9, room / this.data.heads);
    for (let head = 0; head < this.data.heads; head++) {
      const dot = chosen && head === this.data.head ? "dot chosen" : "dot";
      group.append(draw("rect", { class: dot, x: x + 7 + head * step, y: top + 21, width: 0.78 * step, height: 7 }));
    }
    const name = `${site === "encoder_self" ? "Encoder" : "Decoder"} layer ${layer + 1}, ${label}, ${count} parameters`;
    if (choosable) makePressable(group, name, () => this.setStateValue("block", { site, layer, number: Date.now() }));
  }

  // An upward arrow with the shape of the states; returns where the next block begins.
  arrow(x, y, shape) {
    const middle = x + this.column / 2;
    this.add("path", { class: "arrow", d: `M${middle} ${y} V${y - BETWEEN + 4}` });
    this.add("path", { class: "tip", d: `M${middle - 4} ${y - BETWEEN + 6} h8 l-4 -6 z` });
    this.text(middle + 8, y - BETWEEN / 2, shape, "shape");
    return y - BETWEEN;
  }

  // From the encoder's top, down the middle, into every cross-attention.
  memory() {
    const [encoder] = this.tops;
    const middle = this.column + GAP / 2;
    const start = encoder.y;
    const ys = this.crossings.map(([, y]) => y);
    if (!ys.length) return;
    const turn = start - 16;
    const from = encoder.x + this.column / 2;
    const [first, last] = [Math.min(...ys, turn), Math.max(...ys, turn)];
    this.add("path", { class: "arrow", d: `M${from} ${start} V${turn} H${middle} M${middle} ${first} V${last}` });
    this.text(from, turn - 9, `memory ${this.data.stacks[0].shape}`, "shape", "middle");
    for (const [x, y] of this.crossings) {
      this.add("path", { class: "arrow", d: `M${middle} ${y} H${x - 4}` });
      this.add("path", { class: "tip", d: `M${x - 6} ${y - 4} v8 l6 -4 z` });
    }
  }

  text(x, y, content, className, anchor = "start", parent = this.svg) {
    parent.append(draw("text", { x, y, class: className, "text-anchor": anchor }, content));
  }

  add(tag, attributes) {
    this.svg.append(draw(tag, attributes));
  }
}

function heightOf({ before, layers, after }) {
  const tall = (blocks, gap) => blocks.reduce((sum, { site }) => sum + (site ? ATTENTION : BLOCK) + gap, 0);
  const inside = layers.reduce((sum, blocks) => sum + tall(blocks, STEP) + PAD + 16 + BETWEEN, 0);
  return tall(before, 4) + inside + (after.length ? BETWEEN + tall(after, 4) : 0) + 30;
}

function brief(count) {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`;
  return count >= 1e4 ? `${Math.round(count / 1e3)} k` : `${count}`;
}
