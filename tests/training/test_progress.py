"""The log and the line of a run."""

import csv
from pathlib import Path

import pytest

from model_core.training.progress import COLUMNS, ProgressLine, TrainingLog, Window


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_log_has_its_columns_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path / "run" / "log.csv", 0)
    log.add(step=50, loss="1.5")
    log.add(step=60, validation_loss="1.25")
    found = rows(log.path)
    assert tuple(found[0]) == COLUMNS
    assert [(row["step"], row["loss"], row["validation_loss"]) for row in found] == [
        ("50", "1.5", ""),
        ("60", "", "1.25"),
    ]


def test_a_log_goes_on_after_the_saved_step(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path / "log.csv", 0)
    for step in (50, 100, 150):
        log.add(step=step)
    assert [row["step"] for row in rows(TrainingLog(log.path, 100).path)] == ["50", "100"]
    assert rows(TrainingLog(log.path, 0).path) == []


@pytest.mark.parametrize("rest", ["10", "100,2", "x,1,,,,,,,,", "100,2,,,,,,,,,,", "\x00\xff"])
def test_a_row_that_was_half_written_is_dropped(tmp_path: Path, rest: str) -> None:
    log = TrainingLog(tmp_path / "log.csv", 0)
    log.add(step=50)
    with log.path.open("a", encoding="latin-1") as file:
        file.write(rest)
    again = TrainingLog(log.path, 120)
    again.add(step=150)
    assert [row["step"] for row in rows(log.path)] == ["50", "150"]


def test_a_window_averages_over_tokens_and_leaves_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    window = Window()
    assert window.loss == 0.0
    window.add(2.0, 30)
    window.add(5.0, 10)
    now[0] = 116.0
    window.leave_out(11.0)
    assert window.loss == pytest.approx((2.0 * 30 + 5.0 * 10) / 40)
    assert window.tokens_per_second == pytest.approx(40 / 5)


def test_a_line_shows_loss_speed_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine(200)
    line.show(50, 1.2345, 2100.4, 3 * 3600 + 7 * 60 + 5)
    line.show(60, 1.2, 2000.0, 1.0)  # too soon for a second line where there is no terminal
    line.show(200, 1.0, 2000.0, 0.0)  # but the last step is always told
    first, last = capsys.readouterr().err.splitlines()
    assert first == "[######..................] 50/200  loss 1.234  2,100 tokens/s  3:07:05 left"
    assert last.startswith("[########################] 200/200")
