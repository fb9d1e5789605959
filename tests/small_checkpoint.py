"""A small translation model with random weights and the folder that holds it, for tests that need no right answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from model_core.building import make_model
from model_core.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from model_core.config import ModelConfig
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer, train_tokenizer
from tests.small_models import randomise

SENTENCES = [
    "How are you?",
    "How old are you?",
    "I don't speak French.",
    "Where is the station?",
    "Comment allez-vous ?",
    "Je ne parle pas français.",
    "Où est la gare ?",
    "Quel âge as-tu ?",
]
CARD = "# small\n\nRandom weights: « rien ».\n"
SHAPE = ModelConfig(source_vocabulary=311, target_vocabulary=311, layers=3, d_model=20, heads=5, d_ff=28)


@cache
def small_tokenizer() -> Tokenizer:
    """311 pieces: the 8 sentences and all bytes."""
    return train_tokenizer(SENTENCES * 11, SHAPE.source_vocabulary)


def small_model(seed: int = 3) -> Transformer:
    """3 layers, 5 heads, d_model 20, every number random, in evaluation mode."""
    model = make_model(SHAPE, seed=seed)
    randomise(model, seed, spread=2.0)
    return model.eval()


def save_small(folder: Path, seed: int = 3) -> Path:
    """A whole checkpoint of the small model."""
    save_checkpoint(
        folder,
        small_model(seed),
        small_tokenizer(),
        name="small",
        card=CARD,
        training={"steps": 7},
        metrics={"bleu": 1.5},
    )
    return folder


def small_checkpoint(folder: Path, seed: int = 3) -> Checkpoint:
    """The small model's checkpoint, saved and loaded."""
    return load_checkpoint(save_small(folder, seed))
