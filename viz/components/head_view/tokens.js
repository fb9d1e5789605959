// The two columns of tokens: where they stand, what is written beside them.

const HEADING = 26; // pixels above the first token
const NUMBERS = 40; // pixels at either edge, for the weights
const GAP = 8; // pixels between a token and its lines
const SIDES = ["query", "key"];
const other = (side) => (side === "query" ? "key" : "query");

/** The columns of one view, inside an SVG. */
class Columns {
  constructor(svg, { queries, keys, names }) {
    this.tokens = { query: queries, key: keys };
    this.nodes = {};
    for (const side of SIDES) {
      const name = names[side];
      const heading = draw("text", { class: "heading", "text-anchor": side === "query" ? "start" : "end" }, name);
      const list = draw("g", { role: "listbox", "aria-label": name });
      this.nodes[side] = this.tokens[side].map((token, index) => this.makeToken(side, token, index));
      list.append(...this.nodes[side].map(({ group }) => group));
      this[`${side}Heading`] = heading;
      svg.append(heading, list);
    }
  }

  makeToken(side, token, index) {
    const group = draw("g", { class: "token", role: "option", tabindex: -1, "aria-selected": false });
    Object.assign(group.dataset, { side, index, testid: "head-token" });
    const predicts = token.predictsFull === undefined ? "" : `, predicts ${token.predictsFull}`;
    group.setAttribute("aria-label", `${side === "query" ? "Query" : "Key"} ${index + 1}: ${token.full}${predicts}`);
    const [box, text] = [draw("rect", { class: "box", rx: 3 }), draw("text", { class: "label" }, token.label)];
    const weight = draw("text", { class: "weight", "data-testid": "head-weight" });
    group.append(box, text, weight, draw("title", {}, group.getAttribute("aria-label")));
    return { group, box, text, weight };
  }

  /** Puts everything in its place for a width; returns the height and where lines begin and end. */
  place(width, font) {
    const most = Math.max(...SIDES.map((side) => this.tokens[side].length));
    const row = most > 24 ? 20 : 24;
    const size = width < 420 ? 12 : 13;
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = `600 ${size}px ${font}`;
    const room = Math.min(150, 0.27 * width);
    const y = (index) => HEADING + (index + 0.5) * row;
    const edges = {};
    for (const side of SIDES) {
      const texts = this.tokens[side].map((token) => fitted(measure, token.label, room));
      const widest = Math.max(28, ...texts.map((text) => measure.measureText(text).width));
      edges[side] = NUMBERS + widest + GAP;
      const shared = { width, widest, row, size };
      this.nodes[side].forEach((node, i) => this.placeToken(node, side, texts[i], { ...shared, y: y(i) }));
    }
    filled(this.queryHeading, { x: 0, y: HEADING - 12 });
    filled(this.keyHeading, { x: width, y: HEADING - 12 });
    return { height: HEADING + most * row + 4, row, y, from: edges.query, to: width - edges.key };
  }

  placeToken({ box, text, weight }, side, label, { width, widest, y, row, size }) {
    const left = side === "query";
    text.textContent = label;
    const boxX = left ? NUMBERS - 4 : width - NUMBERS - widest - 4;
    filled(box, { x: boxX, y: y - row / 2 + 1, width: widest + 8, height: row - 2 });
    const anchor = left ? "end" : "start";
    filled(text, { x: left ? NUMBERS + widest : width - NUMBERS - widest, y, "text-anchor": anchor, "font-size": size });
    filled(weight, { x: left ? NUMBERS - 8 : width - NUMBERS + 8, y, "text-anchor": anchor, "font-size": 11 });
  }

  /** Shows the active token: its frame, and the weights beside the tokens of the other side. */
  show({ active, pinned, marked, weights, focusable }) {
    const strongest = weights ? Math.max(...weights.filter((weight) => !Number.isNaN(weight))) : NaN;
    for (const side of SIDES) {
      this.nodes[side].forEach(({ group, weight }, index) => {
        const is = (token) => token?.side === side && token.index === index;
        group.setAttribute("aria-selected", is(pinned));
        group.classList.toggle("active", is(active));
        group.classList.toggle("marked", marked[side] === index);
        group.setAttribute("tabindex", is(focusable) ? 0 : -1);
        const value = weights && active.side !== side ? weights[index] : undefined;
        weight.textContent = value === undefined ? "" : Number.isNaN(value) ? "▨" : value.toFixed(2);
        weight.classList.toggle("strongest", value === strongest);
      });
    }
  }

  focus(side, index) {
    this.nodes[side][index].group.focus({ preventScroll: true });
    this.nodes[side][index].group.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
