// Text that is cut where there is no room for it.

const GRAPHEMES = new Intl.Segmenter();

/** The text, or as many of its letters as there is room for (in pixels) and an ellipsis. */
function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}
