"""The Decode page's script without a browser: what it computes, and what it says where something is wrong."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from model_core.config import EOS_ID, DecodingConfig
from model_core.translator import InputError, Translator
from tests.app.opened import open_app, texts
from tests.examples import HOSTILE_TEXTS
from tests.small_traces import small_trace
from viz.panels.decode.beam import hypotheses_csv
from viz.panels.decode.steps import steps_csv, total_in_words
from viz.translators import CHECKPOINTS

TEXT = "How are you?"
LETTERS = "c a b d"
PAGE_BEAM = DecodingConfig("beam", beam_width=5, n_best=5, alternatives=10)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(CHECKPOINTS / "copy")


def run(**query: str) -> AppTest:
    app = AppTest.from_file(str(CHECKPOINTS.parent / "app.py"), default_timeout=120)
    app.switch_page("viz/pages/decode.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def copied(**query: str) -> AppTest:
    """With the small checkpoint, which is fast."""
    return run(**{"checkpoint": "copy", "letters": LETTERS} | query)


def told(app: AppTest) -> str:
    assert not app.exception, app.exception
    return "\n".join(str(element.value) for element in [*app.text, *app.caption, *app.markdown, *app.warning])


def components(app: AppTest) -> list[dict[str, Any]]:
    """What each in-page component was sent: its first two lines of JSON, as one dictionary."""
    found = []
    for element in app.get("bidi_component"):
        lines = element.proto.bytes.split(b"\n", 2)[:2]
        found.append({name: value for line in lines for name, value in json.loads(line).items()})
    return found


def stepper(app: AppTest) -> dict[str, Any]:
    return components(app)[0]


def test_the_steps_are_those_of_the_trace(translator: Translator) -> None:
    app = copied(strategy="greedy", step="3")
    trace = translator.trace(LETTERS, decoding=DecodingConfig(alternatives=10))
    sent = stepper(app)
    assert trace.target_text in told(app)
    assert sent["step"] == 2 and len(sent["steps"]) == len(trace.decoding)
    for step, wanted in zip(sent["steps"], trace.decoding, strict=True):
        assert [piece[0] for piece in step["pieces"]] == [entry.id for entry in wanted.alternatives]
        assert step["pieces"][0][3] == pytest.approx(wanted.alternatives[0].log_probability, abs=1e-4)
    assert len(components(app)) == 1, "greedy search has no beam to draw"


def test_a_beam_has_its_tree_and_its_n_best(translator: Translator) -> None:
    app = copied(beam="3", penalty="1.0")
    wanted = translator.translate(
        LETTERS, DecodingConfig("beam", beam_width=3, length_penalty=1.0, n_best=3, alternatives=10)
    )
    tree = components(app)[1]
    assert [len(row) for row in tree["steps"]] == [len(row) for row in wanted.best.beam]
    table = app.dataframe[0].value
    assert list(table["score"]) == pytest.approx([found.score for found in wanted.n_best])
    assert table["translation"].iloc[0] == wanted.text


def test_files_hold_every_step_and_every_hypothesis(translator: Translator) -> None:
    found = translator.translate(LETTERS, DecodingConfig("beam", beam_width=3, alternatives=7))
    rows = list(csv.DictReader(io.StringIO(hypotheses_csv(translator, found))))
    beam = [one for row in found.best.beam for one in row]
    assert [float(row["score"]) for row in rows] == pytest.approx([one.score for one in beam], abs=1e-5)
    assert [int(row["parent"]) for row in rows] == [one.parent + 1 for one in beam]
    best = next(row for row in rows if float(row["score"]) == pytest.approx(found.best.score, abs=1e-5))
    assert (best["text"], best["finished"], best["kept"]) == (found.text, "1", "1")
    trace = translator.trace(LETTERS, target="c a p d", decoding=DecodingConfig(alternatives=7))
    steps = list(csv.DictReader(io.StringIO(steps_csv(trace))))
    assert [row["step"] for row in steps if row["chosen"] == "yes"] == [
        str(n) for n in range(1, len(trace.decoding) + 1)
    ]
    third = [row for row in steps if row["step"] == "3"]
    assert [int(row["id"]) for row in third[:7]] == [entry.id for entry in trace.decoding[2].alternatives]


@pytest.mark.parametrize("strategy", ["greedy", "beam", "sample"])
def test_a_forced_piece_is_gone_on_from(translator: Translator, strategy: str) -> None:
    first, other = translator.tokenizer.encode("c p")
    app = copied(strategy=strategy, force=f"{first}-{other}f", seed="7")
    assert [step["chosen"] for step in stepper(app)["steps"]][:2] == [first, other]
    assert stepper(app)["forced"] == [1]
    assert "⚑ Forced by you" in told(app) and "at step 2" in told(app)
    app.button(key="undo").click().run()
    assert "Forced by you" not in told(app) and "force" not in app.query_params
    assert stepper(app)["steps"][1]["chosen"] != other


def test_a_person_may_end_the_translation(translator: Translator) -> None:
    [first] = translator.tokenizer.encode("c")
    app = copied(force=f"{first}-{EOS_ID}f")
    assert [step["chosen"] for step in stepper(app)["steps"]] == [first, EOS_ID]
    assert "nothing left to search for" in told(app)


def test_another_sentence_forgets_what_was_forced(translator: Translator) -> None:
    [other] = translator.tokenizer.encode("p")
    app = copied(force=f"{other}f")
    assert "Forced by you" in told(app)
    app.text_input(key="letters").set_value("d d a").run()
    assert "Forced by you" not in told(app) and "force" not in app.query_params


def test_a_hypothesis_of_the_link_is_traced(translator: Translator) -> None:
    ids = translator.tokenizer.encode("c a p")
    app = copied(hypothesis="-".join(map(str, ids)))
    assert [step["chosen"] for step in stepper(app)["steps"]] == [*ids, EOS_ID]
    assert "not the best translation. It had not ended" in told(app)
    app.button(key="back-to-best").click().run()
    assert "not the best translation" not in told(app)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"force": "7-8"}, "can't be read"),
        ({"force": "<b>"}, "can't be read"),
        ({"force": "99999f"}, "has id 99999 at piece 1"),
        ({"force": "1f"}, "has id 1 at piece 1"),
        ({"force": "-".join(["9f"] * 200)}, "has 200 pieces"),
        ({"hypothesis": "x"}, "hypothesis in this link can't be read"),
        ({"hypothesis": "99999"}, "has id 99999"),
        ({"beam": "9999"}, ""),
        ({"beam": "x", "penalty": "nan"}, ""),
        ({"strategy": "sample", "temperature": "-1", "topp": "7", "seed": "1e9"}, ""),
        ({"strategy": "magic", "writer": "nobody", "step": "99", "layer": "x"}, ""),
    ],
)
def test_a_link_with_nonsense_gets_a_sentence(query: dict[str, str], message: str) -> None:
    assert message in told(copied(**query))


def test_a_beginning_that_cannot_be_can_be_dropped() -> None:
    app = copied(force="99999f")
    next(button for button in app.button if button.label == "Let the model choose again").click().run()
    told(app)
    assert stepper(app)["forced"] == []


def test_a_typed_translation_is_scored(translator: Translator) -> None:
    app = copied(writer="you write", target="c a p d")
    trace, ranks = translator.trace(LETTERS, target="c a p d"), translator.ranks(LETTERS, "c a p d")
    table = app.dataframe[0].value
    assert list(table["rank"]) == list(ranks) and ranks[2] > 1
    assert list(table["log P"]) == pytest.approx([step.log_probability for step in trace.decoding], abs=1e-5)
    assert stepper(app)["mayForce"] is False and stepper(app)["tinted"] is True
    own = next(button for button in app.button if button.label == "The model's own")
    own.click().run()
    assert app.text_input(key="target").value == translator.translate(LETTERS).text


def test_nothing_typed_is_asked_for_kindly() -> None:
    assert "Type a translation" in told(copied(writer="you write"))
    assert "Type a sentence" in told(run(text="", writer="you write", target="x"))
    assert "Type a sentence" in told(run(text=""))


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_hostile_targets_get_an_answer(name: str) -> None:
    typed, message = HOSTILE_TEXTS[name]
    app = run(text=TEXT, writer="you write", target=typed)
    if message is None:
        pieces = len(stepper(app)["steps"])
        assert f"over {pieces} pieces, the end among them" in told(app) and len(app.dataframe[0].value) == pieces
    else:
        wanted = "Type a translation" if message == "Type a sentence" else message
        assert re.search(wanted, told(app)), told(app)
        assert "has" not in message or "The translation has" in told(app)


def test_sampling_shows_what_top_k_and_top_p_cut_off(translator: Translator) -> None:
    config = DecodingConfig("sample", temperature=2.0, top_k=3, top_p=0.9, seed=7, alternatives=10)
    sent = stepper(copied(strategy="sample", temperature="2.0", topk="3", topp="0.9", seed="7"))["steps"]
    ids = [step["chosen"] for step in sent]
    asked = [[piece[0] for piece in step["pieces"]] for step in sent]
    wanted = translator.drawn_from(LETTERS, ids, asked, config)
    assert [step["draw"]["count"] for step in sent] == [one.count for one in wanted]
    for step, one in zip(sent, wanted, strict=True):
        assert step["draw"]["shares"] == pytest.approx(one.shares, abs=1e-6)
        assert sum(share > 0 for share in step["draw"]["shares"]) <= 3
        assert sum(step["draw"]["shares"]) == pytest.approx(1, abs=1e-5)
    assert all(step["draw"]["shares"][[p[0] for p in step["pieces"]].index(step["chosen"])] > 0 for step in sent[:-1])
    assert "draw" not in stepper(copied(strategy="greedy"))["steps"][0]


def test_what_is_removed_from_a_typed_translation_is_told() -> None:
    answer = told(copied(writer="you write", target="c\x00 a\x07 b"))
    assert "2 control characters in what you typed had to be removed" in answer


def test_pieces_that_are_bytes_are_told() -> None:
    assert "3 source pieces are bytes of characters" in texts(open_app("decode", text="I like 水."))
    assert "bytes" not in texts(open_app("decode", text="I like water."))


def test_an_improbable_sample_is_not_called_impossible() -> None:
    answer = told(copied(writer="you write", target="p p p p p p p p"))
    assert "0.000 a piece" not in answer and "e−" in answer


def test_a_probable_copy_is_not_called_certain() -> None:
    assert "> 0.999 a piece (geometric mean)" in told(run(checkpoint="copy", letters="a b c d"))


def test_one_piece_is_one_piece() -> None:
    answer = told(copied(force=f"{EOS_ID}f"))
    assert "over 1 piece, the end: " in answer and "and the translation 1 piece." in answer
    assert "1 pieces" not in answer
    trace = small_trace(target=("<s>",))
    assert total_in_words(replace(trace, log_probability=-0.0002)).startswith("Log-probability 0.000 over 1 piece")


def test_the_best_translation_in_the_link_is_no_hypothesis(translator: Translator) -> None:
    best = translator.translate(LETTERS, PAGE_BEAM).best.ids
    for ids in (best, best[:-1]):  # the trace of what has not ended has </s> behind it: it is the same
        app = copied(hypothesis="-".join(map(str, ids)))
        assert "not the best translation" not in told(app) and "hypothesis" not in app.query_params
        assert [step["chosen"] for step in stepper(app)["steps"]] == list(best)
        assert "score with the length penalty" in told(app), "it is the search's own, not a target that was given"
    app = copied(hypothesis="-".join(map(str, best[:-2])))
    assert "not the best translation" in told(app) and "hypothesis" in app.query_params


def test_a_hypothesis_beside_an_ended_beginning_is_no_hypothesis(translator: Translator) -> None:
    """There nothing is searched for, so there is nothing that would be better."""
    [first] = translator.tokenizer.encode("c")
    app = copied(force=f"{first}-{EOS_ID}f", hypothesis=f"{first}")
    assert "nothing left to search for" in told(app)
    assert "not the best translation" not in told(app) and "hypothesis" not in app.query_params


def test_what_is_drawn_from_may_fail_and_the_rest_of_the_page_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("The translation has 129 pieces; at most 128 are allowed.")

    monkeypatch.setattr(Translator, "drawn_from", refuse)
    app = copied(strategy="sample", temperature="2.9", seed="123")
    assert "can't be shown. The translation has 129 pieces; at most 128 are allowed." in told(app)
    assert stepper(app)["steps"] and "draw" not in stepper(app)["steps"][0]


def test_sampling_follows_its_seed(translator: Translator) -> None:
    query = {"strategy": "sample", "temperature": "3.0", "seed": "11"}
    ids = [[step["chosen"] for step in stepper(copied(**query))["steps"]] for _ in range(2)]
    wanted = translator.translate(LETTERS, DecodingConfig("sample", temperature=3.0, seed=11))
    assert ids[0] == ids[1] and ids[0][: len(wanted.best.ids)] == list(wanted.best.ids)
