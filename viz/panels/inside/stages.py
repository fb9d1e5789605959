"""The stages of one head, from its input to the layer's next state: which matrices enter, which one leaves."""

from __future__ import annotations

import numpy as np

from model_core.experiments.anatomy import HeadAnatomy
from viz.panels.inside import cells
from viz.panels.inside.cells import CellOrigin
from viz.panels.inside.labels import Labels
from viz.panels.inside.matrices import ShownMatrix, Stage, head_matrix, inputs, memory, scores, stream, weights
from viz.wording import counted

STAGES = ("X", "W", "Q, K, V", "QKᵀ", "÷ √d", "Mask", "Softmax", "× V", "Concat", "W_O", "Residual")
PROJECTIONS = ("Q", "K", "V")


def stage_at(index: int, a: HeadAnatomy, labels: Labels, projection: str = "Q") -> Stage:
    """Stage `index` (from 0) of STAGES; the third shows one `projection` of PROJECTIONS."""
    if STAGES[index] == "Q, K, V":
        return _projected(a, labels, projection)
    builders = {
        "X": _input, "W": _matrices, "QKᵀ": _products, "÷ √d": _scaled, "Mask": _masked, "Softmax": _softmax,
        "× V": _summed, "Concat": _concatenated, "W_O": _output, "Residual": _residual,
    }  # fmt: skip
    return builders[STAGES[index]](a, labels)


def _input(a: HeadAnatomy, labels: Labels) -> Stage:
    others = (memory(a, labels),) if a.site == "cross" else ()
    also = " Keys and values will be made from the encoder's memory instead." if others else ""
    if not a.pre_norm:
        return Stage(
            f"Each token arrives as a row of {len(labels.model)} numbers, and the head reads them as they are: in this "
            f"model the norm comes after the sublayer.{also}",
            (*others, inputs(a, labels)),
            stacked=True,
        )

    def origin(row: int, column: int) -> CellOrigin:
        return cells.normed_cell(a, a.stream, row, column, float(a.queries[row, column]))

    return Stage(
        f"Each token arrives as a row of {len(labels.model)} numbers; LayerNorm brings every row to the same scale."
        f"{also}",
        (*others, stream(a, labels), "LayerNorm →", inputs(a, labels)),
        origin,
        stacked=True,
    )


def _matrices(a: HeadAnatomy, labels: Labels) -> Stage:
    count = 3 * (a.w_query.size + a.d_head)
    return Stage(
        f"Three matrices belong to this head; training found their numbers ({count:,} with the biases), and they are "
        "the same for every sentence.",
        tuple(head_matrix(a, labels, which) for which in PROJECTIONS),
    )


def _projected(a: HeadAnatomy, labels: Labels, which: str) -> Stage:
    queries = which == "Q"
    values, bias = {"Q": (a.query, a.b_query), "K": (a.key, a.b_key), "V": (a.value, a.b_value)}[which]
    given = a.queries if queries else a.keys
    source = inputs if queries or a.site != "cross" else memory
    meaning = {
        "Q": "the queries: what each token asks for",
        "K": "the keys: what each token can be found by",
        "V": "the values: what each token hands over",
    }[which]
    weight = head_matrix(a, labels, which, by_column=True)

    def origin(row: int, column: int) -> CellOrigin:
        names = ("dimension", source(a, labels).name, weight.name)
        cell = float(values[row, column])
        return cells.product_sum(given[row], weight.values[:, column], labels.model, names, cell, float(bias[column]))

    rows = labels.queries if queries else labels.keys
    result = ShownMatrix(which, which, values, rows, labels.head, meaning)
    return Stage(
        f"Each row is multiplied by W_{which} and the bias is added: {meaning}, in {a.d_head} numbers.",
        (source(a, labels, by_row=True), "×", weight, "+ b =", result),
        origin,
    )


def _products(a: HeadAnatomy, labels: Labels) -> Stage:
    def origin(row: int, column: int) -> CellOrigin:
        names = ("dimension", "Q", "K")
        return cells.product_sum(a.query[row], a.key[column], labels.head, names, float(a.products[row, column]), None)

    return Stage(
        "Every query meets every key: their dot product is large where both point the same way.",
        (
            ShownMatrix("Q", "Q", a.query, labels.queries, labels.head, "queries", by_row=True),
            "×",
            ShownMatrix("K transposed", "K^\\top", a.key.T, labels.head, labels.keys, "keys, on end", by_column=True),
            "=",
            scores("QK transposed", "QK^\\top", a.products, labels, "a row a query, a column a key"),
        ),
        origin,
    )


def _scaled(a: HeadAnatomy, labels: Labels) -> Stage:
    return Stage(
        f"Sums of {a.d_head} products grow with the head's width; divided by √{a.d_head} = {np.sqrt(a.d_head):.3f} "
        "they keep a scale at which the softmax still learns.",
        (
            scores("QK transposed", "QK^\\top", a.products, labels, "dot products"),
            f"/ √{a.d_head} =",
            scores("Scores", "QK^\\top / \\sqrt{d_k}", a.scaled, labels, "scores"),
        ),
        lambda row, column: cells.scaled_cell(a, row, column),
    )


def _masked(a: HeadAnatomy, labels: Labels) -> Stage:
    hidden = int((~a.allowed).sum())
    sentence = (
        f"A position must not look at what comes after it: {hidden} of {a.allowed.size} scores become −∞."
        if hidden
        else "Nothing is masked here: only padding would be, and a single sentence has none."
    )
    return Stage(
        sentence,
        (
            scores("Scores", "QK^\\top / \\sqrt{d_k}", a.scaled, labels, "scores"),
            "mask →",
            scores("Masked scores", "\\text{masked}", a.masked, labels, "hatched: −∞", masked=~a.allowed),
        ),
        lambda row, column: cells.masked_cell(a, row, column),
    )


def _softmax(a: HeadAnatomy, labels: Labels) -> Stage:
    return Stage(
        "The softmax turns each row of scores into shares that sum to 1: this is the map that the Attend page shows.",
        (
            scores("Masked scores", "\\text{masked}", a.masked, labels, "scores", masked=~a.allowed, by_row=True),
            "softmax →",
            weights(a, labels),
        ),
        lambda row, column: cells.softmax_cell(a, labels, row, column),
    )


def _summed(a: HeadAnatomy, labels: Labels) -> Stage:
    def origin(row: int, column: int) -> CellOrigin:
        names, cell = ("key", "weight", "V"), float(a.head_output[row, column])
        return cells.product_sum(a.weights[row], a.value[:, column], labels.keys, names, cell, None)

    return Stage(
        "Each query takes every value in proportion to its weight: their sum is what this head found for the token.",
        (
            weights(a, labels, by_row=True),
            "×",
            ShownMatrix("V", "V", a.value, labels.keys, labels.head, "values", by_column=True),
            "=",
            ShownMatrix("Head output", "AV", a.head_output, labels.queries, labels.head, "the head's output"),
        ),
        origin,
    )


def _concatenated(a: HeadAnatomy, labels: Labels) -> Stage:
    count = len(labels.model) // a.d_head
    mine = (a.head * a.d_head, (a.head + 1) * a.d_head)
    note = f"{counted(count, 'head')}, the chosen one framed"
    return Stage(
        f"The outputs of the layer's {counted(count, 'head')} are written side by side; head {a.head + 1} fills "
        f"dimensions {mine[0] + 1} to {mine[1]}.",
        (
            ShownMatrix("Head output", "AV", a.head_output, labels.queries, labels.head, "this head's"),
            "with the others →",
            ShownMatrix("Concatenation", "\\text{concat}", a.heads, labels.queries, labels.model, note, framed=mine),
        ),
        lambda row, column: cells.concatenated_cell(a, row, column),
        stacked=True,
    )


def _output(a: HeadAnatomy, labels: Labels) -> Stage:
    def origin(row: int, column: int) -> CellOrigin:
        names, cell = ("dimension", "concatenation", "W_O"), float(a.output[row, column])
        bias = float(a.b_output[column])
        return cells.product_sum(a.heads[row], a.w_output[:, column], labels.model, names, cell, bias)

    note = "all heads' findings, mixed"
    return Stage(
        "One more learned matrix mixes what the heads found into the sublayer's answer.",
        (
            ShownMatrix("Concatenation", "\\text{concat}", a.heads, labels.queries, labels.model, "heads", by_row=True),
            "×",
            ShownMatrix("W_O", "W_O", a.w_output, labels.model, labels.model, "the layer's", by_column=True),
            "+ b =",
            ShownMatrix("Output", "\\text{output}", a.output, labels.queries, labels.model, note),
        ),
        origin,
    )


def _residual(a: HeadAnatomy, labels: Labels) -> Stage:
    after = "=" if a.pre_norm else "→ LayerNorm →"
    tail = "" if a.pre_norm else ", and LayerNorm brings each row to the same scale"
    return Stage(
        f"The answer is added to what came in: attention corrects the token's vector, it does not replace it{tail}.",
        (
            stream(a, labels),
            "+",
            ShownMatrix("Output", "\\text{output}", a.output, labels.queries, labels.model, "the sublayer's answer"),
            after,
            ShownMatrix("Result", "x'", a.result, labels.queries, labels.model, "what the next sublayer gets"),
        ),
        lambda row, column: cells.added_cell(a, row, column),
        stacked=True,
    )
