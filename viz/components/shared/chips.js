// The pieces of a sentence as chips. A piece is {text, special, joined}: `joined` is one that continues a word.

/** Boxes with chips: pieces of one word share a box, so that they stay together where the line ends. */
function wordsOf(pieces, makeChip, attributes = {}) {
  const words = [];
  pieces.forEach((piece, index) => {
    if (!piece.joined || !words.length) words.push(make("span", "word", attributes));
    words.at(-1).append(makeChip(piece, index));
  });
  return words;
}

function textOfPiece({ text, special }) {
  return make("bdi", special ? "special" : "", {}, text);
}

/** Tints a chip by `share`, 0 to 1 of the scale, with text that can be read on the tint. */
function tint(chip, scale, share) {
  const colour = colourAt(scale, share);
  chip.style.background = cssColour(colour);
  chip.style.color = inkOn(colour);
}
