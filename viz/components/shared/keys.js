// The keyboard.

const hasModifier = ({ ctrlKey, altKey, metaKey }) => ctrlKey || altKey || metaKey;

/** Enter and the space bar press what has the focus. */
const isPress = ({ key }) => key === "Enter" || key === " ";

/** A part of an SVG that acts as a button: by a click, or by a press while it has the focus. */
function makePressable(node, label, act) {
  filled(node, { role: "button", tabindex: 0, "aria-label": label });
  node.addEventListener("click", act);
  node.addEventListener("keydown", (event) => {
    if (!isPress(event)) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
}
