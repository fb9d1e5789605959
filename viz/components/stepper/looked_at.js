// The source as a step looks at it, and what the key/value cache holds then. Stands before stepper.js.

/** Colour of 0 to 1 on a list of "#rrggbb" in equal steps. */
function colourAt(scale, share) {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const below = Math.min(Math.floor(place), scale.length - 2);
  const parts = [scale[below], scale[below + 1]].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return parts[0].map((value, i) => Math.round(value + (parts[1][i] - value) * (place - below)));
}

/** Black or white, whichever can be read on the colour (relative luminance of WCAG 2). */
function inkOn(colour) {
  const [r, g, b] = colour.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

/** One chip a source token, tinted by its weight, with the weight below. */
function drawLookedAt(row, tokens, weights, scale) {
  const chips = tokens.map((token, index) => {
    const chip = make("span", "token");
    const colour = colourAt(scale, Math.sqrt(weights[index]));
    chip.style.background = `rgb(${colour.join(" ")})`;
    chip.style.color = inkOn(colour);
    Object.assign(chip.dataset, { testid: "looked-at", weight: weights[index].toPrecision(6) });
    chip.setAttribute("role", "listitem");
    chip.append(make("bdi", token.special ? "special" : "", {}, token.text), make("small", "", {}, weights[index].toFixed(2)));
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
  svg.setAttribute("width", width);
  svg.setAttribute("height", top);
  svg.setAttribute("viewBox", `0 0 ${width} ${top}`);
  svg.replaceChildren(...nodes);
}

function size(bytes) {
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(2)} MiB`;
}

/** The cache in words: shapes, numbers and bytes at a step (from 0). */
function cacheInWords({ layers, heads, width, bytes }, now, source) {
  const told = (what, positions, when) => {
    const numbers = 2 * layers * heads * positions * width;
    const shape = `[${heads}, ${positions}, ${width}]`;
    return `${what}: K and V of ${shape} in ${layers === 1 ? "the one layer" : `each of ${layers} layers`} = ${numbers.toLocaleString("en")} numbers, ${size(numbers * bytes)}${when}.`;
  };
  const more = size(2 * layers * heads * width * bytes);
  return [
    told("Self-attention", now + 1, `; each step adds ${more}`),
    told("Cross-attention", source, "; made once, when the source was encoded"),
  ];
}
