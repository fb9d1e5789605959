// Elements of the page and of SVGs, as all components make them. Text is data: it goes in by textContent.

function make(tag, className, attributes = {}, text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return filled(element, attributes, text);
}

/** An element of an SVG. */
function draw(tag, attributes = {}, text = "") {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, text);
}

function filled(element, attributes, text = "") {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

function makeButton(className, attributes, text, act) {
  const button = make("button", className, { type: "button", ...attributes }, text);
  button.addEventListener("click", act);
  return button;
}

/** Gives an SVG its size in pixels, which are its units, too. */
function sized(svg, width, height) {
  return filled(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
}

/** A sentence in parts, every second one the text of a token, which may be written from right to left. */
function sentenceOf(parts) {
  return parts.map((text, index) => make(index % 2 ? "bdi" : "span", "", {}, text));
}
