// Where the nodes of a beam's tree stand, and how one is drawn.

const COLUMN = 118;
const ROW = 42;
const NODE = { width: 84, height: 34 };
const HEAD = 22; // the steps' numbers
const KINDS = { live: "stays in the beam", finished: "finished", pruned: "pruned" };

/** The steps with each node's place, without the pruned ones if they are not wanted. Index and parent stay as sent. */
function layOut(steps, withPruned) {
  return steps.map((row, step) => {
    let line = 0;
    return row.map((node, index) => {
      const drawn = withPruned || node.kind !== "pruned";
      return { ...node, step, index, drawn, x: 34 + step * COLUMN, y: HEAD + (drawn ? line++ : 0) * ROW };
    });
  });
}

/** A curve from a node's right side to its child's left side. */
function edgeOf(parent, child, traced) {
  const [x0, y0] = parent ? [parent.x + NODE.width, parent.y + NODE.height / 2] : [22, HEAD + NODE.height / 2];
  const [x1, y1] = [child.x, child.y + NODE.height / 2];
  const middle = (x0 + x1) / 2;
  const d = `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`;
  return draw("path", { d, class: `edge ${child.kind}${child.best ? " best" : ""}${traced ? " traced" : ""}` });
}

/** A node: rounded where it lives on, with a double frame where it is finished, dashed where it was pruned. */
function nodeOf(node, traced) {
  const { width, height } = NODE;
  const group = draw("g", { class: `node ${node.kind}${node.best ? " best" : ""}${traced ? " traced" : ""}`, transform: `translate(${node.x} ${node.y})` });
  Object.assign(group.dataset, { testid: "hypothesis", step: node.step, index: node.index, kind: node.kind, score: node.score });
  const corner = node.kind === "live" ? 9 : 0;
  group.append(draw("rect", { class: "frame", width, height, rx: corner }));
  if (node.kind === "finished") group.append(draw("rect", { class: "inner", x: 3, y: 3, width: width - 6, height: height - 6 }));
  group.append(draw("text", { x: width / 2, y: 14, "text-anchor": "middle" }, `${node.best ? "★ " : ""}${node.label}`));
  const number = node.kind === "finished" ? `score ${minus(node.score, 2)}` : minus(node.logProbability, 2);
  group.append(draw("text", { class: "number", x: width / 2, y: 27, "text-anchor": "middle" }, number));
  return filled(group, { role: "button", tabindex: -1, "aria-label": inWords(node) });
}

function inWords(node) {
  return (
    `${node.text || "(nothing)"} · ${KINDS[node.kind]}${node.best ? ", on the way to the best translation" : ""}; ` +
    `log-probability ${minus(node.logProbability, 3)} over ${counted(node.step + 1, "piece")}, ` +
    `with length penalty ${minus(node.score, 3)}`
  );
}
