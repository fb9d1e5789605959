// The bytes that packing.py made.

/** Bytes that begin with a line of JSON: its content, and the rest, which shares the bytes' memory. */
function splitLine(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const end = bytes.indexOf(10);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), bytes.subarray(end + 1)];
}
