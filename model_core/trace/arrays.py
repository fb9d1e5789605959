"""Arrays that cannot be written to, and the error of parts that do not fit together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


class TraceError(ValueError):
    """Parts of a trace that do not fit together, or a file that holds no trace. Its message is a sentence."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise TraceError(message)


def frozen_copy(array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """A copy that cannot be written to, so that every view can share it."""
    copy = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


def finite_float32(name: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """A read-only float32 copy of floats, all of them finite: NaN would spread into every mean without a word."""
    kind = np.asarray(array).dtype
    require(kind.kind == "f", f"{name} must hold floats, not {kind}.")
    copy = frozen_copy(array, np.float32)
    bad = copy.size - int(np.isfinite(copy).sum())
    require(not bad, f"{bad} of the {copy.size} numbers in {name} are not finite.")
    return copy


def set_fields(instance: object, **values: Any) -> None:
    """Sets fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def field_values(instance: Any) -> tuple[Any, ...]:
    """The values of a dataclass's fields, in their order."""
    return tuple(getattr(instance, field.name) for field in fields(instance))
