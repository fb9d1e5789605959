// Where a matrix's cells and labels stand, and how they are painted.

const LEVELS = 255;
const FONT_SIZE = 11;
const LINE = 14; // pixels a line of labels takes
const WIDEST_CELL = 46;
const ROW_HEIGHT = [18, 28];
const MOST_HEIGHT = 300;
const LONGEST_COLUMN_LABEL = 76;
const NUMBER_ROOM = [37, 16]; // a cell that is larger shows its number

function full(value) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function short(value) {
  if (!Number.isFinite(value)) return full(value);
  const size = Math.abs(value);
  return minus(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function widest(context, labels) {
  return Math.max(0, ...labels.map((label) => context.measureText(label).width));
}

// Column labels lie flat where they fit or are numbers, which are thinned; other texts stand upright.
function columnLabels(context, labels, cell) {
  if (!labels) return { height: 0, step: 0, upright: false };
  const width = widest(context, labels);
  if (width + 4 <= cell) return { height: LINE + 2, step: 1, upright: false };
  if (labels.every((label) => /^[−-]?\d+$/.test(label))) {
    const least = Math.ceil((width + 6) / cell);
    const step = [1, 2, 4, 5, 8, 10, 16, 32, 64, 128].find((nice) => nice >= least) ?? least;
    return { height: LINE + 2, step, upright: false };
  }
  return { height: Math.min(width, LONGEST_COLUMN_LABEL) + 6, step: Math.ceil(LINE / cell), upright: true };
}

function layoutOf(context, spec, width) {
  const [rows, columns] = spec.shape;
  const left = spec.rows ? Math.min(widest(context, spec.rows) + 6, 0.34 * width) : 0;
  const cellWidth = Math.max(0.1, Math.min(WIDEST_CELL, (width - left) / columns));
  const usual = Math.max(ROW_HEIGHT[0], Math.min(ROW_HEIGHT[1], cellWidth));
  const cellHeight = spec.height ? spec.height / rows : Math.min(usual, MOST_HEIGHT / rows);
  const labels = columnLabels(context, spec.columns, cellWidth);
  const top = (spec.corner ? LINE + 2 : 0) + labels.height;
  const bottom = top + rows * cellHeight;
  return { left, top, bottom, cellWidth, cellHeight, labels, width, height: Math.ceil(bottom + 24) };
}

// As many columns and rows as there are pixels at most; a pixel that covers several values shows the strongest.
function reduced(values, masked, [rows, columns], most) {
  const [down, across] = [Math.min(rows, most[0]), Math.min(columns, most[1])];
  const places = new Int32Array(down * across).fill(-1);
  for (let row = 0; row < rows; row++) {
    const y = Math.floor((row * down) / rows);
    for (let column = 0; column < columns; column++) {
      const from = row * columns + column;
      const to = y * across + Math.floor((column * across) / columns);
      if (!masked[from] && (places[to] < 0 || Math.abs(values[from]) > Math.abs(values[places[to]]))) places[to] = from;
    }
  }
  return { places, down, across };
}

class Drawing {
  constructor(canvas, spec, values, masked, colors) {
    Object.assign(this, { canvas, spec, values, masked });
    this.colors = colourLevels(colors.scale, LEVELS);
    this.hatch = colors.hatch;
    this.anyMasked = masked.includes(1);
  }

  draw(width, host) {
    const style = getComputedStyle(host);
    const ratio = devicePixelRatio || 1;
    const context = this.canvas.getContext("2d");
    const font = `${FONT_SIZE}px ${style.fontFamily}`;
    context.font = font;
    const at = (this.at = layoutOf(context, this.spec, width));
    this.canvas.width = Math.round(at.width * ratio);
    this.canvas.height = Math.round(at.height * ratio);
    this.canvas.style.width = `${at.width}px`;
    this.canvas.style.height = `${at.height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(context, { font, fillStyle: style.color, textBaseline: "middle" });
    this.drawLabels(context, at);
    this.drawCells(context, at, ratio);
    this.drawLines(context, at, pageColour(host));
    this.drawNumbers(context, at);
    context.fillStyle = style.color;
    this.drawLegend(context, at);
  }

  drawLabels(context, at) {
    const { rows, columns, corner } = this.spec;
    if (corner) context.fillText(fitted(context, corner, at.width), 0, LINE / 2);
    const everyRow = Math.ceil(LINE / at.cellHeight);
    context.textAlign = "right";
    rows?.forEach((label, row) => {
      const y = at.top + (row + 0.5) * at.cellHeight;
      if (row % everyRow === 0) context.fillText(fitted(context, label, at.left - 5), at.left - 5, y);
    });
    const { step, upright } = at.labels;
    context.textAlign = upright ? "left" : "center";
    columns?.forEach((label, column) => {
      if (column % step) return;
      const x = at.left + (column + 0.5) * at.cellWidth;
      if (!upright) return this.drawFlat(context, label, x, at);
      context.save();
      context.translate(x, at.top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(fitted(context, label, LONGEST_COLUMN_LABEL), 0, 0);
      context.restore();
    });
    context.textAlign = "left";
  }

  // A number above a narrow column must not leave the picture at its sides.
  drawFlat(context, label, x, at) {
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.max(half, Math.min(x, at.width - half)), at.top - LINE / 2 - 1);
  }

  levelOf(value) {
    const [low, high] = this.spec.limits;
    return Math.round(Math.max(0, Math.min(1, (value - low) / (high - low))) * LEVELS);
  }

  drawCells(context, at, ratio) {
    const [rows, columns] = this.spec.shape;
    const [width, height] = [columns * at.cellWidth, rows * at.cellHeight];
    if (this.anyMasked) this.drawHatch(context, at.left, at.top, width, height);
    const most = [Math.max(1, Math.floor(height * ratio)), Math.max(1, Math.floor(width * ratio))];
    const { places, down, across } = reduced(this.values, this.masked, this.spec.shape, most);
    const small = document.createElement("canvas");
    Object.assign(small, { width: across, height: down });
    const image = new ImageData(across, down);
    places.forEach((from, i) => {
      if (from >= 0) image.data.set([...this.colors[this.levelOf(this.values[from])], 255], 4 * i);
    });
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, at.left, at.top, width, height);
  }

  drawHatch(context, left, top, width, height) {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.strokeStyle = this.hatch;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left - height; x < left + width; x += 5) {
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
  }

  drawLines(context, at, background) {
    if (Math.min(at.cellWidth, at.cellHeight) < 10) return;
    const [rows, columns] = this.spec.shape;
    context.fillStyle = background;
    for (let row = 1; row < rows; row++) {
      context.fillRect(at.left, at.top + row * at.cellHeight - 0.5, columns * at.cellWidth, 1);
    }
    for (let column = 1; column < columns; column++) {
      context.fillRect(at.left + column * at.cellWidth - 0.5, at.top, 1, rows * at.cellHeight);
    }
  }

  drawNumbers(context, at) {
    if (at.cellWidth < NUMBER_ROOM[0] || at.cellHeight < NUMBER_ROOM[1]) return;
    const columns = this.spec.shape[1];
    context.textAlign = "center";
    this.values.forEach((value, i) => {
      if (this.masked[i]) return;
      const [x, y] = [(i % columns) + 0.5, Math.floor(i / columns) + 0.5];
      context.fillStyle = isLight(this.colors[this.levelOf(value)]) ? "#000" : "#fff";
      context.fillText(short(value), at.left + x * at.cellWidth, at.top + y * at.cellHeight);
    });
    context.textAlign = "left";
  }

  drawLegend(context, at) {
    const [low, high] = this.spec.limits.map((limit) => full(Number(limit.toPrecision(3))));
    const y = at.bottom + 14;
    let x = Math.min(at.left, at.width / 4);
    const write = (text) => {
      context.fillText(text, x, y);
      x += context.measureText(text).width + 5;
    };
    write(low);
    const length = Math.max(30, Math.min(90, at.width / 5));
    const gradient = context.createLinearGradient(x, 0, x + length, 0);
    for (let stop = 0; stop <= 16; stop++) {
      gradient.addColorStop(stop / 16, cssColour(this.colors[Math.round((stop / 16) * LEVELS)]));
    }
    const text = context.fillStyle;
    context.fillStyle = gradient;
    context.fillRect(x, y - 4, length, 8);
    context.fillStyle = text;
    x += length + 5;
    write(high);
    if (!this.anyMasked) return;
    x += 8;
    this.drawHatch(context, x, y - 5, 14, 10);
    x += 18;
    write("masked");
  }
}
