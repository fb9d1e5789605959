// What the components' scripts have in common. Stands in front of each of them.

/** An element of the page. Text is data: it goes in by textContent. */
function make(tag, className, attributes = {}, text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return filled(element, attributes, text);
}

/** An element of an SVG. */
function draw(tag, attributes = {}, text = "") {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, text);
}

function filled(element, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

/** Bytes that begin with a line of JSON: what it says, and the rest, which shares the bytes' memory. */
function splitLine(bytes) {
  const end = bytes.indexOf(10);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), bytes.subarray(end + 1)];
}

/** Red, green and blue of any colour that CSS knows: whatever its notation, a pixel is three numbers. */
function pixelOf(color) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

function isLight([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b >= 128;
}

/** Whether Streamlit's page is dark where the element stands. */
function isDark(host) {
  return !isLight(pixelOf(getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "white"));
}

/** A number with a true minus; what rounds to 0 has none. */
function minus(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** "1 piece", "2 pieces" */
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/**
 * What a component exports: `create(host)` makes its view once for each element that Streamlit gives; `receive` is told
 * data and how to answer whenever the page runs, and `remove` cleans up when the element goes.
 */
function mounted(create) {
  const views = new WeakMap();
  return ({ data, parentElement, setStateValue, setTriggerValue }) => {
    if (!views.has(parentElement)) views.set(parentElement, create(parentElement));
    const view = views.get(parentElement);
    view.receive(data, setStateValue, setTriggerValue);
    return () => {
      view.remove();
      views.delete(parentElement);
    };
  };
}
