// The bytes that pack.py made, and their pictures.

const LEVELS = 63; // of a weight's root, as in pack.py
const SITES = {
  encoder_self: "Encoder self-attention",
  decoder_self: "Decoder self-attention",
  cross: "Cross-attention",
};

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readMaps(deflated, shapes) {
  const [described, cells] = splitLine(await inflate(deflated));
  const sites = {};
  let offset = 0;
  for (const site of Object.keys(SITES)) {
    const [layers, heads, queries, keys] = shapes[site];
    const bits = cells.subarray(offset, (offset += Math.ceil((queries * keys) / 8)));
    const { places, count } = readAllowed(bits, queries * keys);
    const roots = cells.subarray(offset, (offset += layers * heads * count));
    sites[site] = { layers, heads, rows: queries, columns: keys, places, count, roots, ...described[site] };
  }
  return sites;
}

// For each cell of a map, where its weight stands among those that were sent; -1 where none may be.
function readAllowed(bits, size) {
  const places = new Int32Array(size);
  let count = 0;
  for (let i = 0; i < size; i++) places[i] = (bits[i >> 3] >> (7 - (i & 7))) & 1 ? count++ : -1;
  return { places, count };
}

// LEVELS sqrt(w) of the cells of one map; of the mean over a layer's heads where head === heads.
function rootsOf({ roots, count, heads }, layer, head) {
  const start = (heads * layer + head) * count;
  if (head < heads) return roots.subarray(start, start + count);
  const mean = new Uint8Array(count);
  for (let i = 0, first = heads * layer * count; i < count; i++) {
    let sum = 0;
    for (let h = 0; h < heads; h++) sum += roots[first + h * count + i] ** 2;
    mean[i] = Math.round(Math.sqrt(sum / heads));
  }
  return mean;
}

// Opaque colours, one number per colour, as the pixels of an ImageData are read.
function pixelsOf(colors) {
  return new Uint32Array(Uint8ClampedArray.from(colors.flatMap((color) => [...color, 255])).buffer);
}

// The map in the canvas's own pixels. A pixel that covers several weights shows the strongest: averages would
// dissolve the thin lines that one looks for.
function paint(canvas, size, map, roots, colors) {
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, size);
  const pixels = new Uint32Array(image.data.buffer);
  const { rows, columns, places } = map;
  for (let y = 0; y < size; y++) {
    const [top, bottom] = covered(y, size, rows);
    for (let x = 0; x < size; x++) {
      const [left, right] = covered(x, size, columns);
      let strongest = -1;
      for (let row = top; row < bottom; row++) {
        for (let i = row * columns + left; i < row * columns + right; i++) {
          if (places[i] >= 0 && roots[places[i]] > strongest) strongest = roots[places[i]];
        }
      }
      if (strongest >= 0) pixels[y * size + x] = colors[strongest];
    }
  }
  context.putImageData(image, 0, 0);
}

function covered(pixel, size, weights) {
  const first = Math.floor((pixel * weights) / size);
  return [first, Math.max(first + 1, Math.floor(((pixel + 1) * weights) / size))];
}
