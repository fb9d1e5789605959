"""Content and numbers as bytes for a component's script; shared/packed.js reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

LEAST_LOG_PROBABILITY = -1e4
"""Stands for minus infinity, which JSON does not have."""


def packed(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A line of JSON, then the body. A text's own newlines are escaped in JSON."""
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + body


def header_of(content: bytes) -> Any:
    """The JSON of the first line. Raises ValueError where there is none, or it is no JSON."""
    return json.loads(content[: content.index(b"\n")])


def digest_of(content: bytes) -> str:
    """16 letters that tell contents apart."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()
