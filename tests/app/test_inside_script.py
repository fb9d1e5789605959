"""The page Inside a head without a browser: its stages, its numbers, and what it says where something is wrong."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model_core.experiments.anatomy import dissect
from model_core.translator import Translator
from tests.app.opened import ROOT, open_app, texts
from tests.examples import HOSTILE_TEXTS, PAGE_SEARCH


def bars(app: AppTest) -> np.ndarray:
    """The heights of the bars in the page's only figure."""
    (figure,) = app.get("plotly_chart")
    heights = json.loads(figure.proto.spec)["data"][0]["y"]
    return np.frombuffer(base64.b64decode(heights["bdata"]), dtype=heights["dtype"])


def test_a_chosen_cell_is_the_sum_of_its_products() -> None:
    app = open_app("inside", text="How are you?", site="cross", layer="2", head="5", stage="4", cell="3.2")
    assert not app.exception
    translator = Translator.load(ROOT / "checkpoints" / "en-fr")
    trace = translator.trace("How are you?", decoding=PAGE_SEARCH)
    products = dissect(translator.checkpoint.model, trace, "cross", 1, 4).products
    assert bars(app).sum() == pytest.approx(products[2, 1], abs=1e-4)
    assert f"{products[2, 1]:.6g}".replace("-", "−") in texts(app)
    assert "tokens + 1 special in the decoder" in texts(app)


@pytest.mark.parametrize("checkpoint", ["en-fr", "copy"])
def test_every_stage_of_both_checkpoints_is_shown(checkpoint: str) -> None:
    app = open_app("inside", checkpoint=checkpoint, text="How are you?", letters="a b c d", site="decoder_self")
    for stage in range(1, 12):
        assert not app.exception
        assert f"**{stage} of 11.**" in texts(app)
        if stage < 11:
            app.button(key="inside-next").click().run()
    assert app.button(key="inside-next").disabled
    app.button(key="inside-back").click().run()
    assert "**10 of 11.**" in texts(app) and app.query_params["stage"] in ("10", ["10"])


def test_a_link_with_nonsense_opens_the_first_stage() -> None:
    app = open_app(
        "inside", text="How are you?", site="nowhere", layer="99", head="-1", stage="12", cell="9.999", projection="X"
    )
    assert not app.exception
    assert "**1 of 11.**" in texts(app)


def test_a_second_look_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("inside", text="I am cold.", site="encoder_self", layer="1", head="1")
    calls: list[str] = []
    real = Translator.translate

    def counted(self: Translator, text: str, *args: object, **options: object) -> object:
        calls.append(text)
        return real(self, text, *args, **options)  # pyright: ignore[reportCallIssue, reportArgumentType]

    monkeypatch.setattr(Translator, "translate", counted)
    app.button(key="inside-next").click().run()
    assert not app.exception and not calls


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_whatever_is_typed_is_answered(name: str) -> None:
    text, answer = HOSTILE_TEXTS[name]
    app = open_app("inside", text=text, stage="7", site="encoder_self")
    assert not app.exception
    if answer is None:
        assert "**7 of 11.**" in texts(app)
    else:
        assert re.search(answer, texts(app)), texts(app)


def test_the_concatenation_opens_at_a_cell_of_the_chosen_head() -> None:
    app = open_app("inside", text="How are you?", site="cross", layer="3", head="2", stage="9")
    assert not app.exception
    assert "is dimension" in texts(app) and "of head 2, the chosen head" in texts(app)


def test_the_memory_has_the_letter_of_the_formula() -> None:
    """M is the mask there, and Y what keys and values are made from."""
    app = open_app("inside", text="How are you?", site="cross", stage="1")
    assert "$Y$" in texts(app) and "$M$ **" not in texts(app)
