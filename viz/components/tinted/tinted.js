// A row of tinted tokens. Every text goes in by textContent: a token is data, never markup.

const makeToken = (token) => {
  const element = document.createElement("span");
  element.className = "token";
  element.classList.toggle("special", token.special);
  element.classList.toggle("marked", token.marked);
  element.setAttribute("role", "listitem");
  element.dataset.testid = "tinted-token";
  element.dataset.marked = String(token.marked);
  if (token.hint) element.title = token.hint;
  if (token.fill) {
    element.style.backgroundColor = token.fill;
    element.style.color = token.ink;
  }
  const text = document.createElement(token.marked ? "mark" : "bdi");
  text.textContent = token.text;
  element.append(text);
  if (token.note) {
    const note = document.createElement("small");
    note.textContent = token.note;
    element.append(note);
  }
  return element;
};

// Pieces of one word share a box, so that they stay together where the line ends.
export default function ({ data, parentElement }) {
  const row = parentElement.querySelector(".tinted");
  row.setAttribute("aria-label", data.label);
  const words = [];
  for (const token of data.tokens) {
    if (!token.joined || !words.length) {
      words.push(document.createElement("span"));
      words.at(-1).className = "word";
    }
    words.at(-1).append(makeToken(token));
  }
  row.replaceChildren(...words);
}
