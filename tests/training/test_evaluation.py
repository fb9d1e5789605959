"""Scores with several references, teacher-forced figures, batches of translations, senses of homographs."""

import math

import pytest
import torch
from sacrebleu.metrics.bleu import BLEU

from model_core.config import DecodingConfig
from model_core.data.corpus import Homograph
from model_core.search.decoding import decode
from model_core.training.batching import Example, make_batch
from model_core.training.evaluation import (
    read_senses,
    score,
    sense_accuracy,
    shows_sense,
    teacher_forced,
    translate_all,
)
from tests.small_checkpoint import SENTENCES, small_model, small_tokenizer

HYPOTHESES = ["le chat dort sur le grand lit", "il pleut beaucoup depuis ce matin", "je ne sais pas du tout"]
REFERENCES = [
    ["le chat dort sur le grand lit", "un chat dort"],
    ["il pleut fort depuis hier", "il pleut beaucoup depuis ce matin", "la pluie tombe"],
    ["je ne sais pas du tout"],
]


# --- BLEU and chrF ---


def test_a_sentence_needs_only_one_of_its_references() -> None:
    scores = score(HYPOTHESES, REFERENCES)
    assert (scores.bleu, scores.chrf, scores.sentences) == (pytest.approx(100.0), pytest.approx(100.0), 3)
    single = score(HYPOTHESES, [references[:1] for references in REFERENCES])
    assert 20.0 < single.bleu < 90.0 and 20.0 < single.chrf < 95.0


def test_further_references_count_wherever_they_stand() -> None:
    turned = [references[::-1] for references in REFERENCES]
    worse = ["le chat dort sur un lit", *HYPOTHESES[1:]]
    assert score(worse, turned).bleu == pytest.approx(score(worse, REFERENCES).bleu)
    assert score(worse, turned).chrf == pytest.approx(score(worse, REFERENCES).chrf)


def test_scores_are_those_of_sacrebleu() -> None:
    worse = ["le chat dort sur un lit", *HYPOTHESES[1:]]
    single = [references[0] for references in REFERENCES]
    wanted = BLEU().corpus_score(worse, [single])
    assert score(worse, [[reference] for reference in single]).bleu == pytest.approx(wanted.score)


def test_signatures_say_how_it_was_measured() -> None:
    scores = score(HYPOTHESES, REFERENCES)
    assert scores.bleu_signature.startswith("nrefs:var|") and "tok:13a" in scores.bleu_signature
    assert scores.chrf_signature.startswith("nrefs:var|") and "nc:6" in scores.chrf_signature
    assert score(HYPOTHESES, [r[:1] for r in REFERENCES]).bleu_signature.startswith("nrefs:1|")


@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a"], []), (["a"], [[]]), (["a"], [["a"], ["b"]])])
def test_what_cannot_be_scored(hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=rf"^{len(hypotheses)} translations .* {len(references)} reference lists"):
        score(hypotheses, references)


# --- under teacher forcing ---


def test_forced_figures_are_per_real_token() -> None:
    model = small_model()
    examples = [
        Example([31, 32, 33, 34, 35], [41, 42, 43]),
        Example([36], [44, 45, 46, 47, 48, 49, 50]),
        Example([37], []),
    ]
    losses, right = [], 0
    for example in examples:
        batch = make_batch([example])
        with torch.inference_mode():
            log_p = model(batch.source, batch.decoder_input)[0]
        for row, target in zip(log_p, batch.decoder_output[0].tolist(), strict=True):
            losses.append(-float(row[target]))
            right += int(row.argmax()) == target
    for batches in ([make_batch(examples)], [make_batch(examples[:1]), make_batch(examples[1:])]):
        forced = teacher_forced(model, batches)
        assert forced.loss == pytest.approx(sum(losses) / 13, rel=1e-5)
        assert forced.accuracy == pytest.approx(right / 13)


def test_a_sure_model_is_told_to_be_right() -> None:
    model = small_model()
    with torch.no_grad():
        model.generator.bias[2] = 1000.0
    forced = teacher_forced(model, [make_batch([Example([31], [41, 42])])])
    assert forced.accuracy == pytest.approx(1 / 3) and forced.loss > 100.0


def test_dropout_and_nothing_are_refused() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="at least 1 batch"):
        teacher_forced(model, [])
    with pytest.raises(ValueError, match="training mode"):
        teacher_forced(model.train(), [make_batch([Example([31], [41])])])


# --- many translations ---


@pytest.mark.parametrize("decoding", [None, DecodingConfig(strategy="beam", beam_width=3, alternatives=0)])
def test_translations_come_in_the_order_of_the_sentences(decoding: DecodingConfig | None) -> None:
    model, tokenizer = small_model(), small_tokenizer()
    sentences = [*SENTENCES, "? ", "How are you? " * 4, "a"]
    together = translate_all(model, tokenizer, sentences, decoding, batch_size=3)
    one_by_one = [
        tokenizer.decode(decode(model, [[1, *tokenizer.encode(sentence), 2]], decoding or DecodingConfig())[0][0].ids)
        for sentence in sentences
    ]
    assert together == one_by_one
    assert len(set(together)) > 3
    assert translate_all(model, tokenizer, []) == []


# --- senses ---

SENSES = {
    "bank": {"river": ("rive", "rives"), "money": ("banque", "banques")},
    "seal": {"animal": ("phoque",), "mean": ("veut dire", "rendez-vous")},
}


@pytest.mark.parametrize(
    ("french", "word", "sense", "shown"),
    [
        ("Il est assis sur la rive.", "bank", "river", True),
        ("La Rive est belle.", "bank", "river", True),
        ("Il longe les rives.", "bank", "river", True),
        ("Il arrive à la dérive.", "bank", "river", False),
        ("La banque est sur la rive.", "bank", "river", False),
        ("La banque est sur la rive.", "bank", "money", False),
        ("l'phoque", "seal", "animal", True),
        ("Cela veut dire non.", "seal", "mean", True),
        ("Un rendez-vous, demain", "seal", "mean", True),
        ("", "bank", "money", False),
    ],
)
def test_a_sense_is_shown_by_a_whole_form_and_by_no_form_of_another(
    french: str, word: str, sense: str, shown: bool
) -> None:
    assert shows_sense(french, word, sense, SENSES) is shown


def test_senses_are_counted_by_word() -> None:
    sentences = [
        Homograph("bank", "river", "a", "b", "test"),
        Homograph("bat", "animal", "a", "b", "test"),
        Homograph("bank", "money", "a", "b", "test"),
    ]
    french = ["sur la rive", "une batte", "à la banque"]
    assert sense_accuracy(french, sentences) == {"bank": (2, 2), "bat": (0, 1)}
    assert sense_accuracy(["sur la banque", *french[1:]], sentences) == {"bank": (1, 2), "bat": (0, 1)}


def test_the_shipped_senses_are_read() -> None:
    senses = read_senses()
    assert senses["bank"] == {"river": ("rive", "rives", "berge", "berges"), "money": ("banque", "banques")}
    assert all(form == form.lower() and form for forms in senses.values() for sense in forms.values() for form in sense)
    assert math.isfinite(len(senses)) and all(len(forms) >= 2 for forms in senses.values())
