"""Computations of the Masks page, kept within bounds and shared by all sessions."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from model_core.config import EOS_ID, DecodingConfig
from model_core.experiments.masks import MaskedPass, MaskSetting, Padded, masked_pass, masked_search
from model_core.trace import Site
from model_core.translator import Translator
from viz.frame import SEARCH
from viz.link_values import spell_cells
from viz.panels.masks.state import Subject


@dataclass(frozen=True)
class Searched:
    """The text of a translation that was searched for, and whether it ended by itself."""

    text: str
    finished: bool


def setting_key(setting: MaskSetting) -> str:
    """Names a setting."""
    return f"{setting.padding}/{setting.causal}/{spell_cells(setting.permitted)}/{spell_cells(setting.forbidden)}"


def run_pass(translator: Translator, subject: Subject, setting: MaskSetting, site: Site, layer: int) -> MaskedPass:
    """The whole translation in one pass under the setting's masks, seen at one layer of one site."""
    return _pass(
        translator.checkpoint.id,
        subject.source.ids,
        subject.source.length,
        subject.target,
        setting_key(setting),
        site,
        layer,
        _translator=translator,
        _setting=setting,
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _pass(
    checkpoint: str,
    source: tuple[int, ...],
    length: int,
    target: tuple[int, ...],
    key: str,
    site: Site,
    layer: int,
    _translator: Translator,
    _setting: MaskSetting,
) -> MaskedPass:
    return masked_pass(_translator.checkpoint.model, Padded(source, length), target, _setting, site, layer)


def run_search(translator: Translator, subject: Subject, setting: MaskSetting) -> Searched:
    """The translation that the page's search finds under the setting's masks."""
    return _search(
        translator.checkpoint.id,
        subject.source.ids,
        subject.source.length,
        len(subject.target),
        setting_key(setting),
        SEARCH,
        _translator=translator,
        _setting=setting,
    )


@st.cache_resource(max_entries=64, show_spinner="Searching again …")
def _search(
    checkpoint: str,
    source: tuple[int, ...],
    length: int,
    rows: int,
    key: str,
    decoding: DecodingConfig,
    _translator: Translator,
    _setting: MaskSetting,
) -> Searched:
    found = masked_search(_translator.checkpoint.model, Padded(source, length), rows, _setting, decoding)
    return Searched(_translator.target_tokenizer.decode(found.ids), found.ids[-1] == EOS_ID)
