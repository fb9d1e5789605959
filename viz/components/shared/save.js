// Saving a component's picture.

const SAVED_STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "visibility", "display",
];

/** The picture (an SVG, a canvas, or boxes of text) as an SVG that looks the same without the page's style sheets. */
function svgAlone(picture) {
  const alone = svgLike(picture);
  alone.style.background = pageBackground(picture);
  const [width, height] = ["width", "height"].map((name) => Number(alone.getAttribute(name)));
  return { text: new XMLSerializer().serializeToString(alone), width, height };
}

function svgLike(picture) {
  if (picture instanceof HTMLCanvasElement) return svgAround(picture);
  return picture instanceof SVGElement ? svgStyled(picture) : svgOfBoxes(picture);
}

/** A canvas knows only its pixels: they go in as they are, at the screen's resolution. */
function svgAround(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const svg = sized(draw("svg"), width, height);
  svg.append(draw("image", { width, height, href: canvas.toDataURL() }));
  return svg;
}

function svgStyled(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(originals[index]);
    for (const name of SAVED_STYLES) node.style.setProperty(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.getBoundingClientRect();
  const box = svg.viewBox.baseVal;
  if (!box || !box.width) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return filled(copy, { width, height });
}

/** The colour behind a node: the first ancestor's, across shadow roots, that is not transparent. */
function pageBackground(node) {
  for (let at = node; at; at = at.parentNode ?? at.host) {
    if (!(at instanceof Element)) continue;
    const color = getComputedStyle(at).backgroundColor;
    if (color && !isClear(color)) return color;
  }
  return "white";
}

function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveSvg(picture, name) {
  saveBlob(new Blob([svgAlone(picture).text], { type: "image/svg+xml" }), `${name}.svg`);
}

/** A page with nothing but the picture, whose title is the file's name. */
function saveHtml(picture, name) {
  const title = make("title", "", {}, name);
  const head = `<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n${new XMLSerializer().serializeToString(title)}`;
  const style = `<style>body { margin: 1rem; background: ${pageBackground(picture)} }</style>`;
  saveBlob(new Blob([[head, style, svgAlone(picture).text, ""].join("\n")], { type: "text/html" }), `${name}.html`);
}

/** At twice the size on the page. */
function savePng(picture, name) {
  const { text, width, height } = svgAlone(picture);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(2 * width);
    canvas.height = Math.ceil(2 * height);
    const paint = canvas.getContext("2d");
    paint.fillStyle = pageBackground(picture);
    paint.fillRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(blob, `${name}.png`));
    URL.revokeObjectURL(address);
  };
  image.src = address;
}

/**
 * A button for each format. `label` names the picture in words; `picture()` gives the SVG, the canvas or the element,
 * `name()` the file's name without its ending.
 */
function saveButtons(label, picture, name) {
  return Object.entries({ SVG: saveSvg, PNG: savePng, HTML: saveHtml }).map(([format, save]) =>
    makeButton("save", { "aria-label": `Save ${label} as ${format}` }, format, () => save(picture(), name())),
  );
}

/** The same buttons as a group that has a name. */
function saveGroup(label, picture, name) {
  const group = make("div", "saving", { role: "group", "aria-label": "Save" });
  group.append(...saveButtons(label, picture, name));
  return group;
}
