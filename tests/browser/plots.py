"""Reading numbers back from Plotly's figures in the page."""

from __future__ import annotations

Z_OF_HEATMAP = """plot => {
  const z = plot.data.find((trace) => trace.type === "heatmap").z;
  if (!z.bdata) return z.map((row) => Array.from(row));
  const bytes = Uint8Array.from(atob(z.bdata), (c) => c.charCodeAt(0));
  const flat = new ({ f4: Float32Array, f8: Float64Array })[z.dtype](bytes.buffer);
  const [rows, columns] = String(z.shape).split(",").map(Number);
  return Array.from({ length: rows }, (_, r) => Array.from(flat.slice(r * columns, (r + 1) * columns)));
}"""
"""The rows of a figure's heatmap, as Plotly was sent them."""
