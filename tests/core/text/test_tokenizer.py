"""The tokenizer: text to pieces and back, on a small vocabulary that is trained here."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.text.tokenizer import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    SPECIAL_PIECES,
    UNK_ID,
    Tokenizer,
    TokenizerError,
    clean_text,
    is_special,
    surface,
    train_tokenizer,
    word_tokenizer,
)
from model_core.text.words import word_bounds

SENTENCES = [
    "How are you?",
    "How old are you?",
    "I don't speak French.",
    "Where is the station?",
    "Comment allez-vous ?",
    "Je ne parle pas français.",
    "Où est la gare ?",
    "Quel âge as-tu ?",
] * 11
VOCABULARY_SIZE = 311
# What people paste: markup, other scripts, emoji with joiners and tags, the mark that SentencePiece puts for a space.
TRICKY = [
    "</s> <unk> <pad> <0xE2>",
    '<b>bold</b> & "q"',
    "$x^2$",
    "![a](http://127.0.0.1:1/x.png)",
    "שלום עולם",
    "你好",
    "👩\u200d🔬 🏴\U000e0067\U000e0062\U000e007f",
    "a▁b ▁ ▁▁",
    "x\u0301",
    "1234567",
]
texts = st.one_of(
    st.text(), st.sampled_from(SENTENCES + TRICKY), st.text("a b\u2581\t\n\x00é\u0301\u00a0\u200b👩\u200d")
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(SENTENCES, VOCABULARY_SIZE)


# --- cleaning ---


@pytest.mark.parametrize(
    ("raw", "text", "removed"),
    [
        ("a\tb\r\nc\u2028d", "a b c d", 0),
        ("  a \u00a0\u202f\u3000 b  ", "a b", 0),
        ("a\x00b\x1bc\x7f", "abc", 3),
        ("\ud800a\udfff", "a", 2),
        ("\ufeffa\u00ad\u200b\u202eb", "ab", 4),
        ("a\ufdd0\U0010ffffb", "ab", 2),
        ("e\u0301", "é", 0),
        ("e\u200b\u0301", "é", 1),
        ("می\u200cخواهم \u200fא\u200e", "می\u200cخواهم \u200fא\u200e", 0),
        ("👩\u200d🔬 ❤\ufe0f", "👩\u200d🔬 ❤\ufe0f", 0),
        ("\n \t", "", 0),
    ],
)
def test_clean_text(raw: str, text: str, removed: int) -> None:
    cleaned = clean_text(raw)
    assert (cleaned.text, cleaned.removed) == (text, removed)


@given(st.text(st.characters(categories=("L", "M", "N", "P", "S", "Z", "C"))))
def test_cleaning_is_idempotent_and_leaves_nfc_with_single_spaces(raw: str) -> None:
    text = clean_text(raw).text
    assert clean_text(text).text == text and clean_text(text).removed == 0
    assert unicodedata.is_normalized("NFC", text)
    assert text == " ".join(text.split())
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in text)


# --- pieces, ids and text ---


@given(texts)
def test_decode_gives_the_cleaned_text_back(tokenizer: Tokenizer, raw: str) -> None:
    text = clean_text(raw).text
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert surface(tokenizer.piece(i) for i in ids) == text
    assert tokenizer.decode([BOS_ID, *ids, EOS_ID, PAD_ID]) == text


@given(texts)
def test_no_text_gives_a_special_id(tokenizer: Tokenizer, raw: str) -> None:
    assert not any(is_special(i) for i in tokenizer.encode(clean_text(raw).text))


@pytest.mark.parametrize("text", SENTENCES[:8] + TRICKY)
def test_sentencepiece_itself_decodes_to_the_same(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer._processor.decode(ids) == tokenizer.decode(ids)


def test_specials_have_fixed_ids(tokenizer: Tokenizer) -> None:
    assert (tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id, UNK_ID) == (0, 1, 2, 3)
    assert tuple(tokenizer.piece(i) for i in range(4)) == SPECIAL_PIECES
    assert tokenizer.vocabulary_size == VOCABULARY_SIZE


def test_a_common_word_is_one_piece_and_digits_stand_alone(tokenizer: Tokenizer) -> None:
    assert [tokenizer.piece(i) for i in tokenizer.encode("How are you?")] == ["▁How", "▁are", "▁you", "?"]
    # A digit that the vocabulary lacks is one byte piece: "1" is 0x31.
    assert [tokenizer.piece(i) for i in tokenizer.encode("120")] == ["▁", "<0x31>", "<0x32>", "<0x30>"]


def test_broken_bytes_decode_to_a_replacement_character(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("好")  # "▁" and three bytes
    assert len(ids) == 4
    assert tokenizer.decode(ids[:-1]) == "\ufffd"


@pytest.mark.parametrize("id", [-1, VOCABULARY_SIZE])
def test_an_id_outside_the_vocabulary_is_an_error(tokenizer: Tokenizer, id: int) -> None:
    with pytest.raises(TokenizerError, match=f"no piece with id {id}: the vocabulary has ids 0 to 310"):
        tokenizer.piece(id)


def test_a_lone_surrogate_is_an_error(tokenizer: Tokenizer) -> None:
    with pytest.raises(TokenizerError, match="Character 3 of the text is a lone surrogate"):
        tokenizer.encode("ab\ud800")


# --- tokens and words ---


def test_tokens_of_a_sentence(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.tokens([BOS_ID, *tokenizer.encode("How are you?"), EOS_ID])
    assert [t.piece for t in tokens] == ["<s>", "▁How", "▁are", "▁you", "?", "</s>"]
    assert [t.text for t in tokens] == ["<s>", "How", "are", "you", "?", "</s>"]
    assert [t.word for t in tokens] == [-1, 0, 1, 2, 3, -1]
    assert [t.special for t in tokens] == [True, False, False, False, False, True]
    assert [t.id for t in tokens[1:-1]] == tokenizer.encode("How are you?")


def test_tokens_of_bytes_and_of_a_lone_word_mark(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.tokens(tokenizer.encode("é 好"))
    assert [(t.text, t.word) for t in tokens] == [
        ("▁", 0),
        ("0xC3", 0),
        ("0xA9", 0),
        ("▁", 1),
        ("0xE5", 1),
        ("0xA5", 1),
        ("0xBD", 1),
    ]


def test_a_mark_is_apart_from_the_word_that_it_follows(tokenizer: Tokenizer) -> None:
    question_mark, how = tokenizer.encode("How are you?")[-1], tokenizer.encode("How")[0]
    assert [t.word for t in tokenizer.tokens([BOS_ID, question_mark, how, question_mark])] == [-1, 0, 1, 2]


def test_words_are_numbered_by_the_rule_of_the_language(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("l'eau")
    assert len({t.word for t in tokenizer.tokens(ids)}) == 1
    assert ["".join(t.piece for t in tokenizer.tokens(ids, "fr") if t.word == word) for word in (0, 1)] == [
        "▁l'",
        "eau",
    ]


@given(texts)
def test_the_pieces_of_a_word_spell_that_word(tokenizer: Tokenizer, raw: str) -> None:
    text = clean_text(raw).text
    tokens = tokenizer.tokens(tokenizer.encode(text))
    words = [text[start:end] for start, end in word_bounds(text)]
    numbers = [t.word for t in tokens]
    assert numbers == sorted(numbers)
    assert [surface(t.piece for t in tokens if t.word == number) for number in dict.fromkeys(numbers)] == words


@given(texts)
def test_every_token_shows_something(tokenizer: Tokenizer, raw: str) -> None:
    assert all(t.text for t in tokenizer.tokens(tokenizer.encode(clean_text(raw).text)))


# --- training, files, guards ---


def test_training_twice_gives_the_same_bytes(tokenizer: Tokenizer) -> None:
    assert train_tokenizer(iter(SENTENCES), VOCABULARY_SIZE).serialized == tokenizer.serialized
    assert train_tokenizer(SENTENCES[:5], 290).serialized != tokenizer.serialized


def test_training_cleans_its_sentences(tokenizer: Tokenizer) -> None:
    dirty = [unicodedata.normalize("NFD", sentence).replace(" ", "\u00a0 \u200b") for sentence in SENTENCES]
    assert train_tokenizer([*dirty, " \n"], VOCABULARY_SIZE).serialized == tokenizer.serialized


def test_a_vocabulary_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(
        TokenizerError, match=r"8,000 pieces from 114 sentences and common words: .*too high.*value <= \d+\.$"
    ):
        train_tokenizer(SENTENCES, 8000)
    with pytest.raises(TokenizerError, match="300 pieces from 0 sentences and common words"):
        train_tokenizer([" "], 300)


def test_a_file_loads_to_the_same_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(tokenizer.serialized)
    loaded = Tokenizer.load(path)
    assert loaded.serialized == tokenizer.serialized
    assert loaded.encode("Où est la gare ?") == tokenizer.encode("Où est la gare ?")


def test_a_file_that_is_no_model_is_named(tokenizer: Tokenizer, tmp_path: Path) -> None:
    missing, cut = tmp_path / "missing.model", tmp_path / "cut.model"
    with pytest.raises(TokenizerError, match=r"missing\.model cannot be read: No such file"):
        Tokenizer.load(missing)
    cut.write_bytes(tokenizer.serialized[:-1])
    with pytest.raises(TokenizerError, match=r"cut\.model: These [\d,]+ bytes are no SentencePiece model"):
        Tokenizer.load(cut)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 foreign", bytes(1000)])
def test_bytes_that_are_no_model_are_an_error(content: bytes) -> None:
    with pytest.raises(TokenizerError, match=f"These {len(content):,} bytes are no SentencePiece model"):
        Tokenizer(content)


@pytest.mark.parametrize(("piece", "other"), [(b"<pad>", b"<pud>"), (b"</s>", b"</z>")])
def test_a_model_with_other_special_pieces_is_an_error(tokenizer: Tokenizer, piece: bytes, other: bytes) -> None:
    with pytest.raises(
        TokenizerError, match=f"first pieces are .*{other.decode()}.* have to be <pad>, <s>, </s>, <unk>"
    ):
        Tokenizer(tokenizer.serialized.replace(piece, other))


# --- whole words, for the copy task ---


def test_a_word_tokenizer_has_the_symbols_in_the_given_order() -> None:
    symbols = ["z", "b", "q", "a", "100", "é", "🙂"]
    tokenizer = word_tokenizer(symbols)
    assert tokenizer.vocabulary_size == 11
    assert tokenizer.encode(" ".join(symbols)) == [4, 5, 6, 7, 8, 9, 10]
    assert tokenizer.decode([1, 7, 5, 2]) == "a b"
    assert [t.word for t in tokenizer.tokens([1, 7, 5, 5, 2])] == [-1, 0, 1, 2, -1]
    assert word_tokenizer(symbols).serialized == tokenizer.serialized


def test_sixteen_letters_make_a_vocabulary_of_twenty() -> None:
    tokenizer = word_tokenizer("abcdefghijklmnop")
    assert [tokenizer.piece(i) for i in range(20)] == [*SPECIAL_PIECES, *(f"▁{c}" for c in "abcdefghijklmnop")]
    assert tokenizer.vocabulary_size == 20


@pytest.mark.parametrize(("text", "unknown"), [("a z b é", "'z', 'é'"), ("ab", "'ab'"), ("a▁b", "'a▁b'"), ("▁", "'▁'")])
def test_a_symbol_outside_the_vocabulary_is_named(text: str, unknown: str) -> None:
    with pytest.raises(TokenizerError, match=f"does not know {unknown}. It knows a, b, c; put spaces"):
        word_tokenizer("abc").encode(text)


def test_a_long_vocabulary_is_not_listed_whole() -> None:
    with pytest.raises(TokenizerError, match="w18, w19 and 13 more"):
        word_tokenizer([f"w{i}" for i in range(33)]).encode("x")


@pytest.mark.parametrize("symbols", [[], ["a", "a"], ["a", "b c"], [""], ["\u2581a"], ["</s>"], ["\u00a0"]])
def test_symbols_that_are_no_words_are_an_error(symbols: list[str]) -> None:
    with pytest.raises(TokenizerError, match=f"each of them one word; it got {len(symbols)}, "):
        word_tokenizer(symbols)
