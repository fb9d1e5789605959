"""Texts that people paste, and the answer that each has to get, for the page's and the command line's tests alike."""

from __future__ import annotations

from model_core.config import DecodingConfig

PAGE_SEARCH = DecodingConfig(strategy="beam", beam_width=5)
"""The search of the Attend page."""

HOSTILE_TEXTS: dict[str, tuple[str, str | None]] = {
    "markup": ('<b>bold</b> & "q"', None),
    "formula": ("$x^2$", None),
    "image": ("![a](http://127.0.0.1:1/x.png)", None),
    "right to left": ("שלום", None),
    "chinese": ("你好", None),
    "200 emoji": ("😀" * 200, r"has \d+ pieces; at most 128 are allowed"),
    "10,000 characters": ("word " * 2000, r"has 2,\d{3} pieces; at most 128 are allowed"),
    "a tab": ("\t", "Type a sentence"),
    "a NUL": ("How\x00 are you?", "1 control character"),
    "nothing": ("", "Type a sentence"),
}
"""Name -> the text that is typed, and a pattern of the answer; None where it is translated like any sentence."""
