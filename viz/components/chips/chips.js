// A row of chips. Every text goes in by textContent: a token is data, never markup.

const percent = (logProbability) => {
  const share = 100 * Math.exp(logProbability);
  return share >= 99.5 ? "99+ %" : share >= 10 ? `${share.toFixed(0)} %` : `${share.toPrecision(2)} %`;
};

function makeChip({ text, piece, id, special, logProbability }) {
  const chip = make("span", special ? "chip special" : "chip", { role: "listitem", "data-testid": "chip" });
  chip.title = `piece ${piece}, id ${id}`;
  chip.append(make("bdi", "", {}, text));
  if (logProbability !== undefined) {
    chip.append(make("small", "", {}, percent(logProbability)));
    chip.title += `, log-probability ${minus(logProbability, 3)}`;
  }
  return chip;
}

export default function ({ data, parentElement }) {
  const row = parentElement.querySelector(".chips");
  row.setAttribute("aria-label", data.label);
  row.replaceChildren(...wordsOf(data.chips, makeChip));
}
