// Rows of tinted tokens. Every text goes in by textContent: a token is data, never markup.

const makeToken = (token) => {
  const element = make("span", "chip", { role: "listitem" });
  element.classList.toggle("special", token.special);
  element.classList.toggle("marked", token.marked);
  element.dataset.testid = "tinted-token";
  element.dataset.marked = String(token.marked);
  if (token.hint) element.title = token.hint;
  if (token.fill) {
    element.style.backgroundColor = token.fill;
    element.style.color = token.ink;
  }
  element.append(make(token.marked ? "mark" : "bdi", "", {}, token.text));
  if (token.note) element.append(make("small", "", {}, token.note));
  return element;
};

function makeRow({ label, tokens }) {
  const row = make("div", "row", { role: "list", "aria-label": label });
  row.classList.toggle("plain", tokens.every((token) => !token.fill));
  row.append(...wordsOf(tokens, makeToken));
  return row;
}

export default function ({ data, parentElement }) {
  const picture = make("div", "picture");
  for (const row of data.rows) {
    picture.append(makeRow(row));
    if (row.told) picture.append(make("p", "below", {}, row.told));
  }
  const saving = saveGroup(data.what, () => picture, () => data.name);
  parentElement.querySelector(".tinted").replaceChildren(picture, saving);
}
