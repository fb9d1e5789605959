"""The entry "about" of a checkpoint's config.json: the kind of model, its task, its languages and example sentences.

"about": {
  "kind": "encoder-decoder",
  "task": "translate",
  "source_language": {"code": "en", "name": "English"},
  "target_language": {"code": "fr", "name": "French"},
  "examples": ["How are you?"]
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args
from unicodedata import category

from model_core.checkpoint.files import CheckpointError
from model_core.checkpoint.languages import Language

Kind = Literal["encoder-decoder"]
Task = Literal["translate", "copy"]


@dataclass(frozen=True)
class CheckpointAbout:
    """The purpose of a checkpoint's model, as pages and commands need it for their labels and examples.

    A language is None where there is none (task "copy") or where the checkpoint does not name it. `examples` are
    source sentences that a page may offer.

    Raises:
        CheckpointError: an entry has another value than it can have.
    """

    kind: Kind = "encoder-decoder"
    task: Task = "translate"
    source_language: Language | None = None
    target_language: Language | None = None
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, possible in (("kind", get_args(Kind)), ("task", get_args(Task))):
            if getattr(self, name) not in possible:
                choices = " or ".join(f'"{value}"' for value in possible)
                raise CheckpointError(f"{name} must be {choices}, not {getattr(self, name)!r}.")
        for example in self.examples:
            if not isinstance(example, str) or not _fits_one_line(example):
                raise CheckpointError(f"examples must be sentences that can be shown on one line, not {example!r}.")

    @property
    def summary(self) -> str:
        """Task and languages in a few words, such as "translates from English to French"."""
        if self.task == "copy":
            return "copies letters"
        source, target = self.source_language, self.target_language
        from_source = [f"from {source.name}"] if source else []
        return " ".join(["translates", *from_source, *([f"to {target.name}"] if target else [])])

    def to_json(self) -> dict[str, Any]:
        """The entry of config.json."""
        return {**asdict(self), "examples": list(self.examples)}


def _fits_one_line(text: str) -> bool:
    return bool(text.strip()) and not any(category(char) in ("Cc", "Zl", "Zp") for char in text)


DEFAULT_ABOUT = CheckpointAbout()


def about_of(config: Mapping[str, Any]) -> CheckpointAbout:
    """The entry of a config.json, as `read_config` gives it.

    A checkpoint that was written before there was such an entry translates between languages that it does not name,
    unless its training says that it copies.

    Raises:
        CheckpointError: the entry is malformed.
    """
    if "about" not in config:
        return CheckpointAbout(task="copy" if config["training"].get("task") == "copy" else "translate")
    entry = config["about"]
    if not isinstance(entry, dict):
        raise CheckpointError(f"about has to be a JSON object; it is a {type(entry).__name__}.")
    unknown = sorted(entry.keys() - CheckpointAbout.__dataclass_fields__.keys())
    if unknown:
        raise CheckpointError(f"about has entries that this version does not know: {', '.join(unknown)}.")
    examples = entry.get("examples", [])
    if not isinstance(examples, list):
        raise CheckpointError(f"examples has to be a list; it is a {type(examples).__name__}.")
    languages = {name: _language_of(name, entry.get(name)) for name in ("source_language", "target_language")}
    return CheckpointAbout(**{**entry, **languages, "examples": tuple(examples)})


def _language_of(name: str, entry: object) -> Language | None:
    if entry is None:
        return None
    if not isinstance(entry, dict) or entry.keys() != {"code", "name"}:
        raise CheckpointError(f'{name} has to be null, or an object with "code" and "name".')
    return Language(entry["code"], entry["name"])
