// Colours: of the page's theme, of a scale, and of text on a colour. As numbers they are [red, green, blue], 0 to 255.

/** Red, green and blue of any colour that CSS knows: whatever its notation, a pixel is three numbers. */
function pixelOf(color) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** By its luma (ITU-R BT.601). */
function isLight([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b >= 128;
}

/** The background of Streamlit's page where the element stands. */
function pageColour(host) {
  return getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "white";
}

function isDark(host) {
  return !isLight(pixelOf(pageColour(host)));
}

/** Of two sets of colours the one for the theme of Streamlit's page where the element stands. */
function ofTheme(host, { light, dark }) {
  return isDark(host) ? dark : light;
}

/** Makes colours known to the element's style sheet: `accent` as `--accent`. */
function setColours(element, colours) {
  for (const [name, colour] of Object.entries(colours)) element.style.setProperty(`--${name}`, colour);
}

/** The colour at 0 to 1 on a scale, a list of "#rrggbb" in equal steps. */
function colourAt(scale, share) {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const below = Math.min(Math.floor(place), scale.length - 2);
  const [from, to] = [scale[below], scale[below + 1]].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - below)));
}

/** A scale's colours at `levels` + 1 places, in equal steps from its first to its last. */
function colourLevels(scale, levels) {
  return Array.from({ length: levels + 1 }, (_, level) => colourAt(scale, level / levels));
}

const cssColour = (colour) => `rgb(${colour.join(" ")})`;

/** Black or white, whichever can be read on the colour (relative luminance of WCAG 2). */
function inkOn(colour) {
  const [r, g, b] = colour.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
