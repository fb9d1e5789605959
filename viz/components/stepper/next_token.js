// The next-token distribution of one step as an SVG of horizontal bars. 

const ROW = 26;
const LABEL = 118; // width of the pieces' column
const NUMBERS = 112; // of the numbers' column

/** A probability with as many digits as it takes to see that it is none of 0 and 1. */
function shown(probability) {
  if (probability >= 0.9995) return "> 0.999";
  return probability >= 0.0005 || probability === 0 ? probability.toFixed(3) : "< 0.001";
}

/** The probability of all pieces that are not drawn: rounding must not make it negative. */
function restOf(step, vocabulary) {
  const drawn = step.pieces.reduce((sum, [, , , value]) => sum + Math.exp(value), 0);
  return { count: vocabulary - step.pieces.length, share: Math.min(1, Math.max(0, 1 - drawn)) };
}

/** Fills `svg` with the step's bars; `force(id)` is called for a piece that a person takes instead, null: none may be. */
function drawBars(svg, step, { vocabulary, width, forced, force }) {
  const rest = restOf(step, vocabulary);
  const height = ROW * (step.pieces.length + 1) + 4;
  sized(svg, width, height);
  const chosen = step.pieces.find(([id]) => id === step.chosen);
  svg.setAttribute("aria-label", `Next piece: ${chosen[2]}, with probability ${shown(Math.exp(chosen[3]))}`);
  const room = Math.max(20, width - LABEL - NUMBERS);
  const rows = step.pieces.map((piece, row) => barOf(piece, row, piece[0] === step.chosen, room, forced, force, step.draw?.shares[row]));
  const left = step.draw && Math.min(1, Math.max(0, 1 - step.draw.shares.reduce((sum, share) => sum + share, 0)));
  svg.replaceChildren(hatching(), ...rows, restRow(rest, step.pieces.length, room, left));
}

function hatching() {
  const pattern = draw("pattern", { id: "rest", width: 5, height: 5, patternUnits: "userSpaceOnUse" });
  pattern.append(draw("path", { d: "M0 5L5 0", class: "hatch" }));
  const definitions = draw("defs");
  definitions.append(pattern);
  return definitions;
}

/** The share with which a sampler draws a piece, as an empty bar over its probability. */
const shareOf = (share, room) => draw("rect", { class: "share", x: LABEL, y: 2.5, width: Math.max(1, room * share), height: ROW - 5 });

function barOf([id, label, piece, value], row, chosen, room, forced, force, share) {
  const probability = Math.exp(value);
  const may = !chosen && force;
  const off = share === 0;
  const kind = `bar${chosen ? " chosen" : may ? " may" : ""}${off ? " off" : ""}`;
  const group = draw("g", { class: kind, transform: `translate(0 ${ROW * row + 2})` });
  Object.assign(group.dataset, { testid: "bar", id, probability: probability.toPrecision(6) });
  const drawn = share === undefined ? "" : off ? ", cut off, never drawn" : `, drawn with ${shown(share)}`;
  const inWords = `${piece}: probability ${shown(probability)}, log-probability ${minus(value, 2)}${drawn}`;
  const mark = chosen ? (forced ? "forced by you" : "chosen") : may ? "click to force it and go on from there" : "";
  group.append(draw("title", {}, mark ? `${inWords}; ${mark}` : inWords));
  group.append(draw("rect", { class: "hit", x: 0, y: 0, width: LABEL + room + NUMBERS, height: ROW }));
  group.append(draw("text", { class: "piece", x: LABEL - 8, y: 17, "text-anchor": "end" }, `${chosen ? (forced ? "⚑ " : "✓ ") : off ? "✗ " : ""}${label}`));
  group.append(draw("rect", { class: "fill", x: LABEL, y: 5, width: Math.max(1, room * probability), height: ROW - 10 }));
  if (share !== undefined) {
    group.dataset.share = share.toPrecision(6);
    if (!off) group.append(shareOf(share, room));
  }
  writeNumbers(group, LABEL + room, shown(probability), minus(value, 2));
  if (may) makePressable(group, `Force ${inWords}`, () => force(id));
  return group;
}

function restRow({ count, share }, row, room, drawn) {
  const group = draw("g", { class: "bar rest", transform: `translate(0 ${ROW * row + 2})` });
  Object.assign(group.dataset, { testid: "rest", probability: share.toPrecision(6) });
  group.append(draw("title", {}, `All ${counted(count, "other piece")} share ${shown(share)}`));
  group.append(draw("text", { class: "piece", x: LABEL - 8, y: 17, "text-anchor": "end" }, `${count.toLocaleString("en")} others`));
  group.append(draw("rect", { class: "fill", x: LABEL, y: 5, width: Math.max(1, room * share), height: ROW - 10, fill: "url(#rest)" }));
  if (drawn) group.append(shareOf(drawn, room));
  writeNumbers(group, LABEL + room, shown(share), share > 0 ? minus(Math.log(share), 2) : "−∞");
  return group;
}

function writeNumbers(group, left, probability, logarithm) {
  group.append(draw("text", { class: "number", x: left + 58, y: 17, "text-anchor": "end" }, probability));
  group.append(draw("text", { class: "number faint", x: left + NUMBERS - 4, y: 17, "text-anchor": "end" }, logarithm));
}
