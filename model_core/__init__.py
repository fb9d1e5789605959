"""The Transformer, its decoding, its recording and its training. Never imports streamlit or plotly.

    from model_core import load

    print(load("en-fr").translate("How are you?"))

The names below are imported when they are first used, so that whoever needs a light part does not wait for PyTorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_core.building import make_model
    from model_core.config import DecodingConfig, ModelConfig
    from model_core.trace.trace import TranslationTrace
    from model_core.translator import Translator, load

__all__ = ["DecodingConfig", "ModelConfig", "TranslationTrace", "Translator", "load", "make_model"]

_PLACES = {
    "DecodingConfig": "model_core.config",
    "ModelConfig": "model_core.config",
    "TranslationTrace": "model_core.trace.trace",
    "Translator": "model_core.translator",
    "load": "model_core.translator",
    "make_model": "model_core.building",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
