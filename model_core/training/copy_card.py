"""The model card of a copy checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model_core.model.transformer import Transformer
from model_core.training.copy_task import LETTERS, LONGEST, ROWS, SHORTEST


def copy_card(model: Transformer, training: Mapping[str, Any], metrics: Mapping[str, Any]) -> str:
    """Markdown: what the model is, how it was made, what was measured, what it can't do."""
    return f"""# copy

A small Transformer that copies what it reads: {SHORTEST} to {LONGEST} letters from {LETTERS[0]} to {LETTERS[-1]}, with
blanks between them. It is here to be looked at: the task is so simple that its attention can be understood completely,
and `moment-*.safetensors` show how that attention was learned.

    python -m model_core translate --checkpoint checkpoints/copy "b a d c a f e"

## Figures

{_figures(metrics)}

## Cross-attention

Target step t writes letter t + 1 of the source, so it has to look at source position t + 1 (position 0 is `<s>`; after
the last letter, at `</s>`). *Weight* is the mean attention on that position, *largest* the share of steps where no
other position has more; all held-out sequences, the right copy fed in. Layers and heads count from 1.

{_cross_attention(metrics["cross_attention"])}

## Moments of the training

Traces of `{metrics["moments"]["example"]}` with the right copy as the target. *Right* counts the tokens, `</s>`
included, that the model thought most probable; *diagonal* is *largest* for the mean over the heads of the last layer.

{_moments(metrics["moments"]["steps"])}

The weights of a moment are those of that step; the checkpoint's are their running average, stored as float16.

## Recipe

{_recipe(model, training)}

## Data and licence

Random sequences, drawn while training from a seed; the held-out ones never come up in training. There is no other data.
The weights are under the licence of this repository (Apache-2.0).

## Limits

It knows {len(LETTERS)} letters and nothing else. It has seen no sequence shorter than {SHORTEST} or longer than
{LONGEST} letters and is not expected to copy one.
"""


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figures(metrics: Mapping[str, Any]) -> str:
    training = metrics["training"]
    rows = [
        (
            "held-out sequences copied exactly, greedy",
            f"{metrics['exact_share']:.1%} of {metrics['held_out_sequences']:,}",
        ),
        ("validation loss (nats a token)", f"{training['best_validation_loss']:.5f} at step {training['best_step']:,}"),
    ]
    if training["first_loss"] is not None:  # no row of the log yet
        losses = f"{training['first_loss']} and {training['last_loss']}"
        rows.append(("training loss in the first and the last row of the log", losses))
    perfect = training["first_validation_with_all_tokens_right"]
    if perfect is not None:
        rows.append(("first validation with all tokens right", f"step {perfect:,}"))
    return _table(("what", "figure"), rows)


def _cross_attention(attention: Mapping[str, Any]) -> str:
    rows = []
    for number, layer in enumerate(attention["layers"], 1):
        named = [("mean", layer["mean_of_heads"]), *((str(n), d) for n, d in enumerate(layer["heads"], 1))]
        rows += [(str(number), head, f"{d['weight']:.2f}", f"{d['largest']:.1%}") for head, d in named]
    return _table(("layer", "head", "weight", "largest"), rows)


def _moments(steps: list[Mapping[str, Any]]) -> str:
    rows = [
        (f"{m['step']:,}", f"{m['right']} of {m['tokens']}", f"{m['log_probability']:.3f}", f"{m['diagonal']:.0%}")
        for m in steps
    ]
    return _table(("step", "right", "log-probability a token", "diagonal"), rows)


def _recipe(model: Transformer, training: Mapping[str, Any]) -> str:
    shape, config = model.config, training["config"]
    return (
        f"`python -m model_core train --task copy`: {shape.layers} + {shape.layers} layers, d_model {shape.d_model}, "
        f"{shape.heads} heads, d_ff {shape.d_ff}, {shape.norm}-norm, vocabulary {shape.target_vocabulary}, "
        f"{model.parameter_count():,} parameters. {training['steps']:,} steps of {ROWS} sequences "
        f"({training['target_tokens']:,} target tokens), AdamW, learning rate {config['learning_rate']} after "
        f"{config['warmup_steps']} steps of warm-up, {config['schedule']} schedule, dropout {shape.dropout}, label "
        f"smoothing {config['label_smoothing']}, {config['precision']}, seed {config['seed']}: "
        f"{training['seconds'] / 60:.1f} minutes on {training['threads']} "
        f"thread{'s' if training['threads'] > 1 else ''}{_processor(training)}."
    )


def _processor(training: Mapping[str, Any]) -> str:
    """The processor's own time, which does not depend on what else a machine had to do."""
    seconds = training.get("processor_seconds")
    return "" if seconds is None else f", {seconds} seconds of them processor time"
