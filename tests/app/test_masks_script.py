"""The Masks page's script without a browser: what it computes and says, under odd links and odd texts."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.proto.Metric_pb2 import Metric as MetricProto
from streamlit.testing.v1 import AppTest

from model_core.experiments.masks import MaskCell, MaskSetting, Padded, masked_pass
from model_core.translator import Translator
from tests.app.opened import ROOT, open_app
from tests.examples import HOSTILE_TEXTS, PAGE_SEARCH

SENTENCE, SECOND = "Where is the station?", "No."


def texts(app: AppTest) -> str:
    found = [*app.text, *app.caption, *app.markdown, *app.error, *app.expander]
    return "\n".join(str(getattr(element, "value", "") or getattr(element, "label", "")) for element in found)


def figures(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(ROOT / "checkpoints" / "en-fr")


def test_three_masks_are_drawn_and_nothing_is_changed_at_first() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND)
    assert not app.exception
    assert len(figures(app)) == 3
    assert "Nothing is changed yet" in texts(app)


def test_forbidding_a_cell_changes_the_next_token(translator: Translator) -> None:
    """The bars are those of the model's own pass under the mask that the link asks for."""
    app = open_app("masks", text=SENTENCE, second=SECOND, step="2", off="cross-2-5")
    assert not app.exception
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    source = tuple(token.id for token in trace.source_tokens)
    target = [token.id for token in trace.predicted_tokens]
    cell = MaskSetting(forbidden=frozenset({MaskCell("cross", 1, 4)}))
    rows = [
        masked_pass(translator.checkpoint.model, Padded(source, len(source)), target, setting, "cross", 0)
        for setting in (MaskSetting(), cell)
    ]
    wanted = [sorted((row.log_probabilities[1]).tolist())[-1] for row in rows]
    before, after = figures(app)[3]["data"]
    assert max(before["x"]) == pytest.approx(2.718281828459045 ** wanted[0], abs=1e-5)
    assert max(after["x"]) == pytest.approx(2.718281828459045 ** wanted[1], abs=1e-5)
    assert "forbidden: query 2" in texts(app)


def test_cells_that_do_not_fit_are_left_out_and_told() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, off="cross-2-3.cross-99-1.nonsense", on="cross-1-1-77")
    assert not app.exception
    assert "3 cells of the link could not be used" in texts(app)
    assert "1 turned cell" in "\n".join(expander.label for expander in app.expander)


def test_a_row_keeps_a_key(translator: Translator) -> None:
    keys = len(translator.prepare(SENTENCE).ids)
    app = open_app("masks", text=SENTENCE, second=SECOND, off=".".join(f"cross-1-{key + 1}" for key in range(keys)))
    assert not app.exception
    assert "One cell of the link could not be used" in texts(app)


def test_the_future_is_explained_with_its_number(translator: Translator) -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, causal="false")
    assert not app.exception
    assert "every row sees the answer" in texts(app) and "does not change a search" in texts(app)
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    source = tuple(token.id for token in trace.source_tokens)
    target = [token.id for token in trace.predicted_tokens]
    before, after = (
        masked_pass(translator.checkpoint.model, Padded(source, len(source)), target, setting, "cross", 0)
        for setting in (MaskSetting(), MaskSetting(causal=False))
    )
    told = [float(app.metric[0].value.replace("−", "-")), float(app.metric[0].delta.split()[0].replace("−", "-"))]
    assert told[0] == pytest.approx(after.log_probability(target), abs=0.006)
    assert told[1] == pytest.approx(after.log_probability(target) - before.log_probability(target), abs=0.006)
    assert ("**less** probable" if told[1] < 0 else "**more** probable") in texts(app)


def test_buttons_change_a_mask_and_take_it_back() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND)
    button = next(button for button in app.button if "pad" in button.label)
    button.click().run()
    assert not app.exception
    assert app.toggle(key="padding").value is False and "Nothing is changed yet" not in texts(app)
    next(button for button in app.button if button.label == "Reset").click().run()
    assert app.toggle(key="padding").value is True and "Nothing is changed yet" in texts(app)
    next(button for button in app.button if button.label.startswith("Forbid")).click().run()
    assert app.query_params["off"] and "1 turned cell" in "\n".join(expander.label for expander in app.expander)


def test_buttons_add_to_what_is_changed_already() -> None:
    """Each time the strongest cell that is left is forbidden, and nothing that was changed before is taken back."""
    app = open_app("masks", text=SENTENCE, second=SECOND, causal="false", step="4")
    found = []
    for count in (1, 2):
        next(button for button in app.button if button.label.startswith("Forbid")).click().run()
        found.append(set(app.query_params["off"].split(".")))
        assert len(found[-1]) == count and app.query_params["causal"] == "false"
    assert found[0] < found[1]
    next(button for button in app.button if "pad" in button.label).click().run()
    assert set(app.query_params["off"].split(".")) == found[1] and app.query_params["causal"] == "false"


def test_it_opens_where_something_is_masked_and_other_pages_do_not_hear_of_it() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND)
    assert app.selectbox(key="choose-site").value == "Decoder self-attention"
    assert "Nothing is masked in this map" not in texts(app)
    assert not {"site", "step"} & set(app.query_params)


def test_a_link_with_a_cell_opens_at_that_cell() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, off="cross-3-4")
    assert app.selectbox(key="choose-site").value == "Cross-attention"
    assert str(app.selectbox(key="choose-step").value).startswith("3 ")
    chosen = open_app("masks", text=SENTENCE, second=SECOND, off="cross-3-4", site="encoder_self", step="1")
    assert chosen.selectbox(key="choose-site").value == "Encoder self-attention"
    assert str(chosen.selectbox(key="choose-step").value).startswith("1 ")


def test_a_row_that_a_change_does_not_reach_says_so_and_shows_the_way() -> None:
    """A cell of row 3 changes nothing in row 1, which comes before it."""
    app = open_app("masks", text=SENTENCE, second=SECOND, off="cross-3-4", site="cross", step="1")
    assert "none of these probabilities changes" in texts(app)
    before, after = figures(app)[3]["data"]
    assert before["x"] == pytest.approx(after["x"], abs=1e-6)
    button = next(button for button in app.button if button.label.startswith("Show the row that changes most"))
    row = button.label.split()[-1]
    button.click().run()
    assert not app.exception
    assert app.query_params["step"] == row and int(row) >= 3
    assert f"Next token after row {row}: “" in texts(app)


def test_the_first_row_of_the_decoder_keeps_its_only_key() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, step="1")
    button = next(button for button in app.button if button.label.startswith("Forbid"))
    assert button.disabled and "no key left" in str(button.help)


def test_the_switches_follow_the_link_and_write_into_it() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, padding="perhaps", row="third")
    assert app.toggle(key="padding").value is True and app.segmented_control(key="row").value == "first"
    app.toggle(key="causal").set_value(False).run()
    assert app.query_params["causal"] == "false" and "every row sees the answer" in texts(app)
    app.toggle(key="causal").set_value(True).run()
    assert "causal" not in app.query_params and "Nothing is changed yet" in texts(app)


def test_the_copy_checkpoint_works_too() -> None:
    app = open_app("masks", checkpoint="copy", letters="a b c d e", off="cross-2-3", causal="false")
    assert not app.exception
    assert len(figures(app)) == 4


def test_without_a_second_sentence_nothing_is_padded() -> None:
    app = open_app("masks", text=SENTENCE, second="")
    assert not app.exception
    assert "Nothing is padded here" in texts(app) and len(figures(app)) == 3


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_odd_texts_get_an_answer(name: str) -> None:
    text, answer = HOSTILE_TEXTS[name]
    app = open_app("masks", text=text, second=text[:40], causal="false")
    assert not app.exception
    if answer is None:
        assert "every row sees the answer" in texts(app)
    else:
        assert re.search(answer, texts(app)), texts(app)


@pytest.mark.parametrize("second", ["", "  \t"])
def test_no_second_sentence_is_no_fault(second: str) -> None:
    app = open_app("masks", text=SENTENCE, second=second)
    assert not app.exception
    assert "Type a sentence" not in texts(app) and "is empty" not in texts(app)


@pytest.mark.parametrize(
    ("second", "answer"),
    [
        ("word " * 200, "The second sentence has 200 pieces; at most 128 are allowed"),
        ("\x00\x07", "The second sentence is empty"),
        ("No\x00.", "1 control character in the second sentence had to be removed"),
    ],
)
def test_what_is_wrong_with_the_second_sentence_is_said_of_it(second: str, answer: str) -> None:
    app = open_app("masks", text=SENTENCE, second=second)
    assert not app.exception
    assert answer in texts(app) and "The sentence has" not in texts(app)
    assert len(figures(app)) == 3, "the first sentence is shown all the same"


def test_letters_that_the_second_sentence_may_not_have_are_said_of_it() -> None:
    app = open_app("masks", checkpoint="copy", letters="a b c", letters2="a z")
    assert not app.exception
    assert re.search(r"The second sentence: .*'z'", texts(app)), texts(app)


def test_a_change_of_nothing_has_no_sign_no_arrow_and_no_colour() -> None:
    """This cell moves the copy's log-probability by less than is shown, from a number that rounds to 0 itself."""
    app = open_app("masks", checkpoint="copy", letters="a b c d", off="encoder_self-1-3")
    assert not app.exception
    for metric, value, delta in zip(
        app.metric, ("0.00", "5 of 5"), ("0.00 against 0.00 before", "0 against 5 before"), strict=True
    ):
        assert (metric.value, metric.delta) == (value, delta)
        assert metric.proto.direction == MetricProto.MetricDirection.NONE
        assert metric.proto.color == MetricProto.MetricColor.GRAY


def test_a_change_has_a_true_minus_and_points_down() -> None:
    app = open_app("masks", text=SENTENCE, second=SECOND, causal="false")
    total = app.metric[0]
    assert total.value.startswith("−") and total.delta.startswith("−") and "-" not in total.value + total.delta
    assert total.proto.direction == MetricProto.MetricDirection.DOWN
    assert total.proto.color == MetricProto.MetricColor.RED
