"""Recorded translations: frozen types that hold numpy arrays. Neither torch nor a screen is needed to read one."""

from model_core.sites import SITES, Site
from model_core.text.pieces import Token, Tokens
from model_core.trace.arrays import TraceError
from model_core.trace.maps import AttentionMaps
from model_core.trace.steps import STRATEGIES, Alternative, DecodingStep, Hypothesis, TraceStrategy
from model_core.trace.trace import TranslationTrace

__all__ = [
    "SITES", "STRATEGIES", "Alternative", "AttentionMaps", "DecodingStep", "Hypothesis", "Site", "Token", "Tokens",
    "TraceError", "TraceStrategy", "TranslationTrace",
]  # fmt: skip
