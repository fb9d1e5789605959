// A row of chips. Every text goes in by textContent: a token is data, never markup.

const percent = (logProbability) => {
  const share = 100 * Math.exp(logProbability);
  return share >= 99.5 ? "99+ %" : share >= 10 ? `${share.toFixed(0)} %` : `${share.toPrecision(2)} %`;
};

const makeChip = (chip) => {
  const element = document.createElement("span");
  element.className = "chip";
  element.classList.toggle("special", chip.special);
  element.setAttribute("role", "listitem");
  element.dataset.testid = "chip";
  element.title = `piece ${chip.piece}, id ${chip.id}`;
  const text = document.createElement("bdi");
  text.textContent = chip.text;
  element.append(text);
  if (chip.logProbability !== undefined) {
    const share = document.createElement("small");
    share.textContent = percent(chip.logProbability);
    element.append(share);
    element.title += `, log-probability ${minus(chip.logProbability, 3)}`;
  }
  return element;
};

// Pieces of one word share a box, so that they stay together where the line ends.
const makeWords = (chips) => {
  const words = [];
  for (const chip of chips) {
    if (!chip.joined || !words.length) {
      const word = document.createElement("span");
      word.className = "word";
      words.push(word);
    }
    words.at(-1).append(makeChip(chip));
  }
  return words;
};

export default function ({ data, parentElement }) {
  const row = parentElement.querySelector(".chips");
  row.setAttribute("aria-label", data.label);
  row.replaceChildren(...makeWords(data.chips));
}
