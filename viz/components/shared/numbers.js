// Numbers as text.

/** A number with a true minus; what rounds to 0 has none. */
function minus(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** "1 piece", "2 pieces" */
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
