"""Numbers, counts and names of files as they are written."""

from __future__ import annotations

import pytest

from viz.wording import counted, fixed, percent, probability, signed, significant, slug


def test_a_minus_is_a_true_one_and_zero_has_none() -> None:
    assert [fixed(number) for number in (-1.005, -0.004, -0.0, 0.004, 2.0)] == ["−1.00", "0.00", "0.00", "0.00", "2.00"]
    assert (fixed(-0.0004, 3), fixed(-0.0006, 3), fixed(-7.4, 0)) == ("0.000", "−0.001", "−7")
    assert [significant(number) for number in (-0.125, -0.0, -1.2e-7, 12345678.0)] == [
        "−0.125", "0", "−1.2e−07", "1.23457e+07",
    ]  # fmt: skip
    assert significant(-10.0, 4) == "−10"


def test_a_change_has_its_sign_unless_it_rounds_to_nothing() -> None:
    assert (signed(0.1234), signed(-0.5), signed(12.0, 0), signed(-3, 0)) == ("+0.123", "−0.500", "+12", "−3")
    assert [signed(number) for number in (0.0, -0.0, -0.0002, 0.0002)] == ["0.000"] * 4
    assert (signed(0, 0), signed(-0.004, 2), signed(10.0, 0)) == ("0", "0.00", "+10")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.000"), (0.00002, "2.0e−05"), (0.0005, "0.001"), (0.43149, "0.431"), (0.9994, "0.999"),
        (0.99999, "> 0.999"), (1.0, "> 0.999"),
    ],
)  # fmt: skip
def test_a_probability_is_neither_certain_nor_impossible(share: float, text: str) -> None:
    assert probability(share) == text


def test_probabilities_with_other_digits() -> None:
    assert (probability(0.99996, 4), probability(0.99994, 4), probability(0.996, 2)) == ("> 0.9999", "0.9999", "> 0.99")
    assert [percent(share) for share in (0.996, 0.994, 0.104, 0.0504, 0.0000012)] == [
        "99+ %", "99 %", "10 %", "5 %", "0.00012 %",
    ]  # fmt: skip


def test_one_is_one() -> None:
    assert [counted(number, "piece") for number in (0, 1, 2, 1200)] == [
        "0 pieces",
        "1 piece",
        "2 pieces",
        "1,200 pieces",
    ]
    assert (counted(1, "hypothesis", "hypotheses"), counted(3, "hypothesis", "hypotheses")) == (
        "1 hypothesis",
        "3 hypotheses",
    )


def test_a_files_name_is_made_of_the_texts_first_words() -> None:
    assert slug("Where's <b>the</b> station, please?", "sentence", 5) == "where-s-b-the-b"
    assert slug("Scores after the mask", "matrix") == "scores-after-the-mask"
    assert slug("你好 ../", "sentence", 5) == "sentence"
