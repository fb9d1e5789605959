"""The copy task: its data, a model that learns it, and the folder that a training leaves."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model_core.building import make_model
from model_core.checkpoint import load_checkpoint, read_config, read_file
from model_core.config import ModelConfig
from model_core.trace import SITES, TranslationTrace
from model_core.training import copy_run
from model_core.training.copy_run import train_copy
from model_core.training.copy_task import COPY_MODEL, COPY_TRAINING, LETTERS, CopyTask, copy_tokenizer
from model_core.training.diagonal import cross_attention, diagonal
from model_core.training.loop import Trainer
from model_core.training.moments import STEPS, Moments
from model_core.training.run import SettingsError
from model_core.training.snapshots import EXAMPLE
from model_core.training.state import Progress
from model_core.translator import Translator

TINY = replace(COPY_MODEL, layers=1, d_model=16, heads=2, d_ff=20)
SHORT = replace(COPY_TRAINING, steps=12, warmup_steps=3, validate_every=4, save_every=4)


# --- data ---


def test_letters_are_tokens_and_the_example_is_of_letters() -> None:
    tokenizer = copy_tokenizer()
    assert tokenizer.vocabulary_size == 20 == COPY_MODEL.source_vocabulary == COPY_MODEL.target_vocabulary
    assert tokenizer.encode(" ".join(LETTERS)) == list(range(4, 20))
    assert tokenizer.decode(tokenizer.encode(EXAMPLE)) == EXAMPLE
    assert 3 <= len(EXAMPLE.split()) <= 10


def test_targets_are_sources_and_lengths_are_from_3_to_10() -> None:
    task = CopyTask(copy_tokenizer(), held_out=11)
    lengths: set[int] = set()
    for make in task.epoch(0)[:7]:
        batch = make()
        assert torch.equal(batch.source[:, 1:], batch.decoder_output)
        lengths |= set((batch.decoder_input != 0).sum(dim=1).sub(1).tolist())
    assert lengths == set(range(3, 11))


def test_an_epoch_follows_from_the_seed_and_its_number() -> None:
    def first(seed: int, epoch: int) -> list[list[int]]:
        return CopyTask(copy_tokenizer(), seed, held_out=11).epoch(epoch)[5]().source.tolist()

    assert first(1, 3) == first(1, 3)
    assert first(1, 3) != first(1, 4) and first(1, 3) != first(2, 3)


def test_held_out_sequences_are_different_and_never_trained_on() -> None:
    task = CopyTask(copy_tokenizer(), held_out=1000, longest=4)  # 16^3 + 16^4 sequences: they would come up
    held_out = set(task.held_out)
    assert len(held_out) == len(task.held_out) == 1000
    for make in task.epoch(0)[:20]:
        for row in make().source.tolist():
            assert tuple(id_ for id_ in row if id_ > 3) not in held_out


# --- learning ---


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[CopyTask, Trainer]:
    """The task with 3 to 5 letters, 48 sequences a step, learned by 1 + 1 layers of width 32 in 350 steps."""
    task = CopyTask(copy_tokenizer(), held_out=100, longest=5, rows=48)
    shape = replace(COPY_MODEL, layers=1, d_model=32, d_ff=64)
    config = replace(COPY_TRAINING, steps=350, learning_rate=5e-3, warmup_steps=30, validate_every=350, save_every=350)
    trainer = Trainer(make_model(shape, seed=1), task, config, tmp_path_factory.mktemp("learned"))
    trainer.run()
    return task, trainer


def test_a_small_model_learns_to_copy_every_held_out_sequence(learned: tuple[CopyTask, Trainer]) -> None:
    task, trainer = learned
    assert task.exact_share(make_model(trainer.model.config, seed=1).eval()) == 0.0
    with trainer.average.lent_to(trainer.model) as model:
        assert task.exact_share(model) == 1.0
        assert task.validate(model)["token_accuracy"] == 1.0


def test_its_cross_attention_is_more_diagonal_than_before(learned: tuple[CopyTask, Trainer]) -> None:
    task, trainer = learned
    before = cross_attention(make_model(trainer.model.config, seed=1).eval(), task.held_out)
    with trainer.average.lent_to(trainer.model) as model:
        after = cross_attention(model, task.held_out)
    assert len(after.heads) == 1 and len(after.heads[0]) == 4
    assert after.means[0].largest > 0.8 > 0.5 > before.means[0].largest
    assert after.means[0].weight == pytest.approx(sum(head.weight for head in after.heads[0]) / 4)


def test_one_wrong_token_or_a_missing_end_is_not_exact() -> None:
    task = CopyTask(copy_tokenizer(), held_out=5)
    model = make_model(TINY, seed=1).eval()
    with torch.no_grad():  # always the letter a, never the end
        model.generator.bias[4] = 100.0
    task.held_out = [(4, 4, 4), (4, 5, 4), (4, 4, 4, 4)]
    assert task.exact_share(model) == 0.0


# --- the diagonal ---


def test_a_diagonal_is_one_right_of_the_main_one() -> None:
    perfect = torch.eye(6)[1:5].expand(2, 3, 4, 6)  # steps 0 ... 3 look at positions 1 ... 4
    assert diagonal(perfect).weight == 1.0 and diagonal(perfect).largest == 1.0
    early = torch.eye(6)[:4]
    assert diagonal(early).weight == 0.0 and diagonal(early).largest == 0.0
    half = torch.tensor([[0.1, 0.6, 0.2, 0.1], [0.0, 0.5, 0.3, 0.2], [0.1, 0.1, 0.1, 0.7]])
    assert diagonal(half).weight == pytest.approx((0.6 + 0.3 + 0.7) / 3)
    assert diagonal(half).largest == pytest.approx(2 / 3)


# --- the folder that a training leaves ---


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "copy"
    train_copy(folder, TINY, config=SHORT)
    return folder


def test_a_training_leaves_a_checkpoint_that_vouches_for_all_its_files(trained: Path) -> None:
    config = read_config(trained)
    files = {path.name for path in trained.iterdir() if path.is_file()}
    assert files == {"config.json", *config["sha256"]}
    assert {"log.csv", "moment-00000.safetensors", "moment-00010.safetensors", "moment-00012.safetensors"} <= files
    for file in config["sha256"]:
        read_file(trained, file, config)
    assert [*config["training"]["moments"]["files"]] == sorted(file for file in files if file.startswith("moment"))


def test_metrics_say_what_was_measured(trained: Path) -> None:
    checkpoint = load_checkpoint(trained)
    task = CopyTask(checkpoint.tokenizer, SHORT.seed)
    metrics = checkpoint.metrics
    assert metrics["exact_share"] == task.exact_share(checkpoint.model)
    assert metrics["held_out_sequences"] == 1000
    found = cross_attention(checkpoint.model, task.held_out)
    told = metrics["cross_attention"]
    assert [layer["mean_of_heads"]["weight"] for layer in told["layers"]] == [mean.weight for mean in found.means]
    assert told["best"]["weight"] == max(head.weight for heads in found.heads for head in heads)
    assert (metrics["training"]["steps"], metrics["training"]["best_step"]) == (12, 12)
    with (trained / "log.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows if row["validation_loss"]] == ["4", "8", "12"]
    assert metrics["training"]["last_loss"] == float([row["loss"] for row in rows if row["loss"]][-1])


def test_moments_are_traces_of_the_right_copy(trained: Path) -> None:
    told = load_checkpoint(trained).metrics["moments"]
    assert told["example"] == EXAMPLE and [moment["step"] for moment in told["steps"]] == [0, 10, 12]
    for moment in told["steps"]:
        trace = TranslationTrace.load(trained / moment["file"])
        assert (trace.source_text, trace.target_text, trace.strategy) == (EXAMPLE, EXAMPLE, "forced")
        assert trace.checkpoint == f"copy@step-{moment['step']}"
        assert moment["log_probability"] == pytest.approx(trace.log_probability / 8)
        assert moment["tokens"] == 8
    assert told["steps"][0]["log_probability"] < told["steps"][-1]["log_probability"]


def assert_same_trace(one: Path, other: Path) -> None:
    """In all but the order of their metadata, which safetensors leaves open."""
    mine, theirs = TranslationTrace.load(one), TranslationTrace.load(other)
    assert (mine.checkpoint, mine.decoding) == (theirs.checkpoint, theirs.decoding)
    for site in SITES:
        np.testing.assert_array_equal(mine.maps(site).weights, theirs.maps(site).weights)
    np.testing.assert_array_equal(mine.decoder_states, theirs.decoder_states)


def test_the_first_moment_is_the_untrained_model(trained: Path, tmp_path: Path) -> None:
    Moments(tmp_path, copy_tokenizer(), 12).keep(make_model(TINY, seed=SHORT.seed), 0)
    assert_same_trace(tmp_path / "moment-00000.safetensors", trained / "moment-00000.safetensors")
    model = make_model(TINY, seed=SHORT.seed + 1)
    Moments(tmp_path, copy_tokenizer(), 12).keep(model, 0)
    with pytest.raises(AssertionError):
        assert_same_trace(tmp_path / "moment-00000.safetensors", trained / "moment-00000.safetensors")


def test_keeping_a_moment_leaves_training_as_it_was(tmp_path: Path) -> None:
    model, moments = make_model(TINY, seed=1).train(), Moments(tmp_path, copy_tokenizer(), 700)
    moments.keep(model, 10)
    moments.keep(model, 11)
    assert model.training
    assert [path.name for path in tmp_path.iterdir()] == ["moment-00010.safetensors"]
    assert moments.steps == (*[step for step in STEPS if step < 700], 700)


def test_a_stopped_training_goes_on_to_the_same_moments(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Moments.keep

    def stop_at_11(moments: Moments, model: torch.nn.Module, step: int) -> None:
        keep(moments, model, step)  # type: ignore[arg-type]
        if step == 11:
            raise KeyboardInterrupt

    monkeypatch.setattr(Moments, "keep", stop_at_11)
    with pytest.raises(KeyboardInterrupt):
        train_copy(tmp_path, TINY, config=SHORT)
    monkeypatch.undo()
    result = train_copy(tmp_path, TINY, config=SHORT)
    assert result.progress.step == 12 and result.exact is not None
    assert (tmp_path / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    for step in (0, 10, 12):
        assert_same_trace(*(folder / f"moment-{step:05d}.safetensors" for folder in (tmp_path, trained)))
    metrics = load_checkpoint(tmp_path).metrics
    again = train_copy(tmp_path, TINY, config=SHORT)
    assert again.exact == result.exact
    assert load_checkpoint(tmp_path).metrics == metrics


def test_a_training_that_was_stopped_before_it_validated_has_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_run, "run_task", lambda *args, **options: Progress(step=2))
    result = train_copy(tmp_path, TINY, config=SHORT)
    assert result.exact is None and result.progress.step == 2


def test_the_card_says_the_figures(trained: Path) -> None:
    card = (trained / "README.md").read_text(encoding="utf-8")
    metrics = json.loads((trained / "metrics.json").read_text(encoding="utf-8"))
    assert f"{metrics['exact_share']:.1%} of 1,000" in card
    assert "1 + 1 layers, d_model 16, 2 heads" in card
    best = metrics["cross_attention"]["best"]
    assert f"| {best['layer']} | {best['head']} | {best['weight']:.2f} |" in card


def test_a_checkpoint_of_the_task_translates_letters(trained: Path) -> None:
    translation = Translator.load(trained).translate(EXAMPLE)
    assert set(translation.text.split()) <= set(LETTERS)


@pytest.mark.parametrize(
    "shape", [replace(TINY, source_vocabulary=21, target_vocabulary=21), ModelConfig(20, 21, sharing="none")]
)
def test_another_vocabulary_is_refused(tmp_path: Path, shape: ModelConfig) -> None:
    with pytest.raises(SettingsError, match="vocabulary of 20"):
        train_copy(tmp_path / "new", shape, config=SHORT)
    assert not (tmp_path / "new").exists()


def test_other_settings_in_the_same_folder_are_refused(trained: Path) -> None:
    with pytest.raises(SettingsError, match=r"layers was 1, now 2.*another --out folder"):
        train_copy(trained, replace(TINY, layers=2), config=SHORT)
