// Which lines there are, and how they are drawn and written down.
// A map is [head, query, key]; a line's index runs over it row by row.

const LEVELS = 24; // steps of width and opacity: lines of one step and one head are one SVG path, however many they are
const WIDEST = 6; // pixels of a line of weight 1

/** The bytes that Python packed: a line of JSON, float32 weights, and a byte a cell that says whether it is allowed. */
function readView(bytes) {
  const [header, rest] = splitLine(bytes);
  const [heads, rows, columns] = header.shape;
  const numbers = rest.slice(0, 4 * heads * rows * columns); // a copy, since floats must be aligned
  const allowed = rest.slice(numbers.length);
  return { header, heads, rows, columns, weights: new Float32Array(numbers.buffer), allowed };
}

/** For each head and query the strongest keys that together hold `mass` percent of the row: 1 where a line is kept. */
function strongestLines({ heads, rows, columns, weights, allowed }, mass) {
  const kept = new Uint8Array(weights.length);
  for (let row = 0; row < heads * rows; row++) {
    const [start, mask] = [row * columns, (row % rows) * columns];
    const keys = [];
    let total = 0;
    for (let key = 0; key < columns; key++) {
      if (!allowed[mask + key]) continue;
      keys.push(key);
      total += weights[start + key];
    }
    keys.sort((a, b) => weights[start + b] - weights[start + a] || a - b);
    let held = 0;
    for (const key of keys) {
      if (mass < 100 && held >= (mass / 100) * total - 1e-9) break;
      kept[start + key] = 1;
      held += weights[start + key];
    }
  }
  return kept;
}

/** The places of those lines that are kept and belong to a head that is on; with `only`, those of one token. */
function shownLines({ rows, columns }, kept, heads, only) {
  const lines = [];
  for (const head of heads) {
    for (let row = 0; row < rows; row++) {
      if (only?.side === "query" && only.index !== row) continue;
      for (let key = 0; key < columns; key++) {
        if (only?.side === "key" && only.index !== key) continue;
        const at = (head * rows + row) * columns + key;
        if (kept[at]) lines.push({ head, row, key, at });
      }
    }
  }
  return lines;
}

/** The mean over the heads that are on of one token's weights, one for each token of the other side; NaN is masked. */
function weightsBeside({ rows, columns, weights, allowed }, heads, { side, index }) {
  return Array.from({ length: side === "query" ? columns : rows }, (_, other) => {
    const [row, key] = side === "query" ? [index, other] : [other, index];
    if (!allowed[row * columns + key] || !heads.length) return NaN;
    return heads.reduce((sum, head) => sum + weights[(head * rows + row) * columns + key], 0) / heads.length;
  });
}

/** The strongest of some lines; undefined where there is none. */
function strongestOf({ weights }, lines) {
  return lines.reduce((best, line) => (best && weights[best.at] >= weights[line.at] ? best : line), undefined);
}

/** Draws lines into a group: heads lie a little apart, so that none hides another. */
function drawLines(group, { header: { colors }, weights }, lines, heads, place) {
  const apart = Math.min(4, (0.7 * place.row) / Math.max(heads.length, 1));
  const strokes = new Map();
  for (const { head, row, key, at } of lines) {
    const level = Math.max(1, Math.min(LEVELS, Math.ceil(weights[at] * LEVELS)));
    const shift = (heads.indexOf(head) - (heads.length - 1) / 2) * apart;
    const [top, bottom] = [place.y(row) + shift, place.y(key) + shift];
    const middle = (place.from + place.to) / 2;
    const stroke = `${head}/${level}`;
    const curve = `M${place.from} ${top}C${middle} ${top} ${middle} ${bottom} ${place.to} ${bottom}`;
    strokes.set(stroke, (strokes.get(stroke) ?? "") + curve);
  }
  const paths = [...strokes].map(([stroke, d]) => {
    const [head, level] = stroke.split("/").map(Number);
    const path = draw("path", { d, fill: "none", stroke: colors[head % colors.length], "data-head": head });
    path.setAttribute("stroke-width", Math.max(0.6, (WIDEST * level) / LEVELS).toFixed(2));
    path.setAttribute("stroke-opacity", Math.max(0.1, level / LEVELS).toFixed(2));
    return path;
  });
  group.replaceChildren(...paths);
}

/** The lines as CSV; numbers count from 1, a weight has every digit of a float32. */
function linesCsv({ header, weights }, lines) {
  const predicts = header.queries.some((token) => token.predicts !== undefined);
  const heading = ["head", "query", "query token", ...(predicts ? ["predicts"] : []), "key", "key token", "weight"];
  const rows = lines.map(({ head, row, key, at }) => [
    head + 1,
    row + 1,
    header.queries[row].text,
    ...(predicts ? [header.queries[row].predicts] : []),
    key + 1,
    header.keys[key].text,
    Number(weights[at].toPrecision(9)),
  ]);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  return "\ufeff" + [heading, ...rows].map((row) => row.map(quoted).join(",") + "\r\n").join("");
}
