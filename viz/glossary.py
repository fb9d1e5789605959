"""The words that the pages use, one click away from each of them."""

from __future__ import annotations

import streamlit as st

TERMS: dict[str, str] = {
    "Alignment": "Which source word a target word stands for. Cross-attention often shows it, without being asked to.",
    "Attention": "A query compares itself with every key; a softmax makes of that weights which sum to 1, and "
    "the result is the weighted sum of the values.",
    "Attention weight": "How much of one value goes into one query's result: between 0 and 1, and 1 over a row.",
    "Beam search": "Keeps the few most probable beginnings (hypotheses) at each step instead of only the best one.",
    "Causal mask": "In the decoder, a position may look at itself and back, never ahead: the next word must stay "
    "unseen while it is predicted.",
    "Checkpoint": "A trained model on disk: weights, settings and tokenizer.",
    "Cosine": "How alike the directions of two vectors are: 1 the same, 0 unrelated, −1 opposite.",
    "Cross-attention": "The decoder's queries over the encoder's output: where the translation looks at the source.",
    "d_model, d_k": "d_model is the width of a state (256 in en-fr). Each head works in a part of it of width "
    "d_k = d_model / heads.",
    "Decoder": "Reads the encoder's output and the words written so far; predicts the next piece.",
    "Embedding": "The learned vector of a piece, before the model has looked at its neighbours.",
    "Encoder": "Reads the whole source at once, and turns every piece into a vector that knows its neighbours.",
    "Entropy": "How spread out weights are: 0 when all of the weight is on one token, log n when n tokens share alike.",
    "Greedy search": "Takes the most probable piece at each step.",
    "Head": "One of several attentions that a layer does side by side, each with its own queries, keys and values.",
    "Hypothesis": "A translation that a search has begun; its score is its log-probability, with a length penalty.",
    "Key": "What a token offers to be compared with: its state times W_K.",
    "Key/value cache": "The keys and values of what is written so far, kept so that a step computes only its own row.",
    "Label smoothing": "In training, a little of the target's probability is spread over all pieces, so that the model "
    "does not grow too sure.",
    "Layer norm": "Brings a state to mean 0 and variance 1, then scales and shifts it by learned numbers.",
    "Length penalty": "Divides a hypothesis' log-probability by its length (to a power), since every further piece "
    "makes it smaller.",
    "Log-probability": "The natural logarithm of a probability: 0 is certain, −0.69 one half, −2.3 one tenth.",
    "Logits": "The scores of all pieces before the softmax.",
    "Mask": "Which keys a query may look at. A masked weight is not small: it does not exist.",
    "Memory": "The encoder's output, which cross-attention reads.",
    "Padding": "What makes the shorter sentences of a batch as long as the longest; no one may look at it.",
    "Piece": "What the model reads and writes: a word or a part of one; ▁ marks where a word begins.",
    "Positional encoding": "A vector of sines and cosines that is added to each embedding, since attention itself does "
    "not know the order.",
    "Query": "What a token asks with: its state times W_Q.",
    "Residual": "What goes around a sublayer and is added to its result, so that a layer only has to change a state.",
    "Sampling": "Draws the next piece by its probability; temperature, top-k and top-p say how daringly.",
    "Self-attention": "Queries, keys and values come from the same sentence.",
    "Site": "Where an attention stands: encoder self-attention, decoder self-attention or cross-attention.",
    "Softmax": "Turns scores into shares: exp of each, divided by their sum.",
    "<s>, </s>": "Beginning and end of a sentence. Heads with nothing to say often rest on them.",
    "State": "The vector of one token after some layer; the row of numbers that attention reads and changes.",
    "Teacher forcing": "A given translation is fed to the decoder, instead of what it would have written itself.",
    "Temperature": "Divides the logits before the softmax: below 1 is more careful, above 1 more daring.",
    "Token": "A piece at its place in a sentence, or one of the special ones.",
    "Top-k, top-p": "Sampling only among the k most probable pieces, or among the fewest that hold a share p.",
    "Value": "What a token gives to those that look at it: its state times W_V.",
}


@st.dialog("Glossary", width="large")
def glossary() -> None:
    """A window over the page with every term, or with those that hold what is typed."""
    asked = (st.text_input("Find", key="glossary-find", placeholder="mask, head, cosine …") or "").strip().lower()
    found = {term: told for term, told in TERMS.items() if asked in f"{term} {told}".lower()}
    if not found:
        st.text(f"No term has “{asked}” in it; there are {len(TERMS)} terms in all.")
    for term, told in sorted(found.items(), key=lambda item: item[0].strip("<").lower()):
        st.text(f"{term}: {told}")
