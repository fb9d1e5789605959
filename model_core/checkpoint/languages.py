"""English names of languages by their ISO 639 codes: those that the corpora of the Tatoeba project hold most of."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.checkpoint.files import CheckpointError

LANGUAGE_NAMES = {
    "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kab": "Kabyle",
    "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "mr": "Marathi",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True)
class Language:
    """A language: its ISO 639 code, such as "fr", and its English name, such as "French".

    Raises:
        CheckpointError: one of them is empty, or can't be shown on one line.
    """

    code: str
    name: str

    def __post_init__(self) -> None:
        for field, value in (("code", self.code), ("name", self.name)):
            if not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise CheckpointError(f"A language's {field} has to be a word that can be shown, not {value!r}.")

    @classmethod
    def of_code(cls, code: str) -> Language:
        """The language of a code; one whose name is not known here is called by its code."""
        code = code.strip()
        return cls(code, LANGUAGE_NAMES.get(code.lower().split("-")[0].split("_")[0], code))
