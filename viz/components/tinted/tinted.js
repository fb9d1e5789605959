// Rows of tinted tokens. Every text goes in by textContent: a token is data, never markup.

const makeToken = (token) => {
  const element = make("span", "token", { role: "listitem" });
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

// Pieces of one word share a box, so that they stay together where the line ends.
function makeRow({ label, tokens }) {
  const row = make("div", "row", { role: "list", "aria-label": label });
  row.classList.toggle("plain", tokens.every((token) => !token.fill));
  for (const token of tokens) {
    if (!token.joined || !row.lastChild) row.append(make("span", "word"));
    row.lastChild.append(makeToken(token));
  }
  return row;
}

export default function ({ data, parentElement }) {
  const picture = make("div", "picture");
  for (const row of data.rows) {
    picture.append(makeRow(row));
    if (row.told) picture.append(make("p", "told", {}, row.told));
  }
  const saving = make("div", "saving", { role: "group", "aria-label": "Save" });
  saving.append(...saveButtons(data.what, () => picture, () => data.name));
  parentElement.querySelector(".tinted").replaceChildren(picture, saving);
}
