// The source as a step looks at it, and the content of the key/value cache then.

/** One chip per source token, tinted by its weight, with the weight below. */
function drawLookedAt(row, tokens, weights, scale) {
  const chips = tokens.map((token, index) => {
    const chip = make("span", "chip", { role: "listitem" });
    tint(chip, scale, Math.sqrt(weights[index]));
    Object.assign(chip.dataset, { testid: "looked-at", weight: weights[index].toPrecision(6) });
    chip.append(textOfPiece(token), make("small", "", {}, weights[index].toFixed(2)));
    return chip;
  });
  row.replaceChildren(...chips);
}

/** "Most weight: 0.43 on “French”, then …" */
function strongestOf(tokens, weights) {
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a]);
  return order.slice(0, 2).map((i) => ({ text: tokens[i].text, weight: weights[i].toFixed(2) }));
}

const CELL_ROW = 14;
const CACHE_LABEL = 18;

/** Two pairs of rows: keys and values of the positions written so far (`now` is the newest), and of the source. */
function drawCache(svg, { now, steps, source, width }) {
  const cell = Math.max(2, Math.min(16, (width - CACHE_LABEL - 4) / Math.max(steps, source)));
  const parts = [
    { title: `Decoder self-attention: ${counted(now + 1, "position")}`, count: steps, filled: now + 1, newest: now },
    { title: `Cross-attention: ${counted(source, "source token")}`, count: source, filled: source, newest: -1 },
  ];
  const nodes = [];
  let top = 0;
  for (const part of parts) {
    nodes.push(draw("text", { class: "faint", x: 0, y: top + 12 }, part.title));
    for (const [row, name] of ["K", "V"].entries()) {
      const y = top + 18 + row * CELL_ROW;
      nodes.push(draw("text", { class: "faint", x: 2, y: y + 10 }, name));
      for (let i = 0; i < part.count; i++) {
        const kind = i === part.newest ? "cell newest" : i < part.filled ? "cell filled" : "cell";
        nodes.push(draw("rect", { class: kind, x: CACHE_LABEL + i * cell, y, width: Math.max(1, cell - 2), height: CELL_ROW - 3 }));
      }
    }
    top += 18 + 2 * CELL_ROW + 8;
  }
  sized(svg, width, top).replaceChildren(...nodes);
}

function size(bytes) {
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(2)} MiB`;
}

/** The cache in words: shapes, numbers and bytes at a step (from 0). */
function cacheInWords({ layers, heads, width, bytes }, now, source) {
  const describe = (part, positions, when) => {
    const numbers = 2 * layers * heads * positions * width;
    const shape = `[${heads}, ${positions}, ${width}]`;
    return `${part}: K and V of ${shape} in ${layers === 1 ? "the one layer" : `each of ${layers} layers`} = ${numbers.toLocaleString("en")} numbers, ${size(numbers * bytes)}${when}.`;
  };
  const more = size(2 * layers * heads * width * bytes);
  return [
    describe("Self-attention", now + 1, `; each step adds ${more}`),
    describe("Cross-attention", source, "; made once, when the source was encoded"),
  ];
}
