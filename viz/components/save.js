// Saving a component's picture. Stands in front of a component's own script.

const SAVED_STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "visibility", "display",
];

/** A copy of the SVG that looks the same without the page's style sheets, on the page's background. */
function svgAlone(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(originals[index]);
    for (const name of SAVED_STYLES) node.style.setProperty(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.getBoundingClientRect();
  const box = svg.viewBox.baseVal;
  if (!box || !box.width) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.style.background = pageBackground(svg);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/** The colour behind a node: the first ancestor's, across shadow roots, that is not transparent. */
function pageBackground(node) {
  for (let at = node; at; at = at.parentNode ?? at.host) {
    if (!(at instanceof Element)) continue;
    const color = getComputedStyle(at).backgroundColor;
    if (color && color !== "transparent" && !/, 0\)$/.test(color)) return color;
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

/** Downloads `name`.svg. */
function saveSvg(svg, name) {
  saveBlob(new Blob([svgAlone(svg).text], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Downloads `name`.png, at twice the size on the page. */
function savePng(svg, name) {
  const { text, width, height } = svgAlone(svg);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(2 * width);
    canvas.height = Math.ceil(2 * height);
    const paint = canvas.getContext("2d");
    paint.fillStyle = pageBackground(svg);
    paint.fillRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(blob, `${name}.png`));
    URL.revokeObjectURL(address);
  };
  image.src = address;
}
