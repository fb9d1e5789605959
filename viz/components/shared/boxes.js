// Boxes with text in them as an SVG, for saving them.

const MARGIN = 4; // around boxes, whose frames would lie on the picture's edge

/** Boxes with text in them, as they stand on the page: fills and frames first, then the texts, a line at a time. */
function svgOfBoxes(host) {
  const corner = host.getBoundingClientRect();
  const at = ({ left, top, width, height }) => ({ x: left - corner.left + MARGIN, y: top - corner.top + MARGIN, width, height });
  const boxes = [...host.querySelectorAll("*")].flatMap((element) => boxOf(at(element.getBoundingClientRect()), getComputedStyle(element)));
  const pictures = [...host.querySelectorAll("canvas")].map((canvas) => pictureOf(canvas, at(canvas.getBoundingClientRect())));
  const texts = textNodes(host).flatMap((node) => linesOf(node).map(([text, place]) => textOf(text, at(place), getComputedStyle(node.parentElement))));
  const right = Math.max(0, ...[...boxes, ...pictures, ...texts].map((node) => Number(node.dataset.right)));
  const [width, height] = [Math.ceil(right + MARGIN), Math.ceil(corner.height + 2 * MARGIN)];
  const svg = sized(draw("svg"), width, height);
  svg.append(hatches(host), ...boxes, ...pictures, ...texts);
  return svg;
}

const isClear = (color) => color === "transparent" || /, 0\)$/.test(color);

const HATCH = "saved-hatch";

/** The pattern of boxes that are hatched: stripes, as a component's own style has them, in its colour. */
function hatches(host) {
  const pattern = draw("pattern", { id: HATCH, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-45)" });
  pattern.append(draw("path", { d: "M0 0V5", stroke: getComputedStyle(host).getPropertyValue("--hatch").trim() || "gray", opacity: 0.6 }));
  const definitions = draw("defs");
  definitions.append(pattern);
  return definitions;
}

/** A canvas, pixel for pixel. */
function pictureOf(canvas, { x, y, width, height }) {
  const node = draw("image", { x, y, width, height, href: canvas.toDataURL(), preserveAspectRatio: "none" });
  node.style.imageRendering = getComputedStyle(canvas).imageRendering;
  node.dataset.right = x + width;
  return node;
}

/** A box's fill and those sides of its frame that can be seen. */
function boxOf({ x, y, width, height }, style) {
  const nodes = [];
  const right = x + width;
  const radius = parseFloat(style.borderTopLeftRadius) || parseFloat(style.borderTopRightRadius) || 0;
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => {
    const shown = style[`border${side}Style`] !== "none" && !isClear(style[`border${side}Color`]);
    return shown ? parseFloat(style[`border${side}Width`]) : 0;
  });
  if (!isClear(style.backgroundColor)) nodes.push(draw("rect", { x, y, width, height, rx: radius, fill: style.backgroundColor }));
  if (style.backgroundImage.startsWith("repeating-linear-gradient")) nodes.push(draw("rect", { x, y, width, height, fill: `url(#${HATCH})` }));
  const [frame] = sides;
  const line = { fill: "none", stroke: style.borderTopColor, "stroke-width": frame };
  if (frame && sides.every((side) => side === frame)) {
    nodes.push(draw("rect", { x: x + frame / 2, y: y + frame / 2, width: width - frame, height: height - frame, rx: radius, ...line }));
  } else if (frame) {
    const ends = { top: y + frame / 2, bottom: y + height - frame / 2, left: x + frame / 2, right: right - frame / 2 };
    const [start, stop] = [sides[3] ? ends.left : x, sides[1] ? ends.right : right];
    const paths = [`M${start} ${ends.top}H${stop}`, `M${start} ${ends.bottom}H${stop}`];
    if (sides[3]) paths.push(`M${ends.left} ${ends.top}V${ends.bottom}`);
    if (sides[1]) paths.push(`M${ends.right} ${ends.top}V${ends.bottom}`);
    nodes.push(draw("path", { d: paths.join(""), ...line }));
  }
  for (const node of nodes) node.dataset.right = right;
  return nodes;
}

function textNodes(host) {
  const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

/** The lines that a text is broken into, each with the place where it stands. */
function linesOf(node) {
  const lines = [];
  const range = document.createRange();
  let from = 0;
  for (const letter of node.data) {
    range.setStart(node, from);
    range.setEnd(node, from + letter.length);
    const place = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.top - place.top) < place.height / 2) last.text += letter;
    else lines.push({ text: letter, from, top: place.top });
    from += letter.length;
  }
  return lines.filter(({ text }) => text.trim()).map(({ text, from }) => {
    range.setStart(node, from);
    range.setEnd(node, from + text.length);
    return [text, range.getBoundingClientRect()];
  });
}

/** As wide as on the page, whatever font stands in for the page's where the picture is shown. */
function textOf(text, { x, y, width, height }, style) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText(text);
  const places = { x, y: y + (height - up - down) / 2 + up, textLength: width, lengthAdjust: "spacingAndGlyphs" };
  const node = draw("text", { ...places, fill: style.color }, text);
  Object.assign(node.style, { whiteSpace: "pre", fontFamily: style.fontFamily, fontSize: style.fontSize, fontWeight: style.fontWeight });
  node.dataset.right = x + width;
  return node;
}
