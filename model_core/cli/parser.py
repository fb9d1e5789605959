"""The options of every command. Imports nothing heavy, so that help and mistakes are answered at once."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from pathlib import Path
from typing import Literal, NoReturn, get_args, get_origin, get_type_hints

from model_core.config import ModelConfig, TrainingConfig

VOCABULARIES = ("source_vocabulary", "target_vocabulary")  # one option for both: the tokenizer is a joint one
MODEL_HELP = {
    "layers": "layers of the encoder, and of the decoder",
    "d_model": "width of the states",
    "d_ff": "width inside the feed-forward sublayers",
    "heads": "attention heads; d_model has to be a multiple",
    "dropout": "share of each embedding and sublayer output that is dropped in training",
    "attention_dropout": "share of the attention weights that is dropped in training",
    "norm": "where the layer norm stands: before each sublayer, or after its residual",
    "sharing": "which of the source, target and output embeddings are one table",
    "position_base": "base of the sinusoidal positions, or of the rotation",
    "positions": "positional encoding; leaving it out is an ablation for teaching",
    "encoder_layers": "layers of the encoder, where they are not as many as --layers says",
    "decoder_layers": "layers of the decoder, where they are not as many as --layers says",
    "key_value_heads": "heads of keys and values, which several heads of queries share",
    "activation": "function inside the feed-forward sublayers",
    "feed_forward_dropout": "share of the feed-forward's hidden units that is dropped in training",
    "final_norm": "a layer norm behind each stack (without this option: with --norm pre)",
    "max_positions": "most positions that learned ones are made for",
    "initialisation": "distribution of the initial weights",
    "scaled": "scores are divided by the root of the head's width; without it an ablation for teaching",
    "residuals": "residual connections; without them an ablation for teaching",
}
TRAINING_HELP = {
    "steps": "optimizer steps",
    "tokens_per_batch": "positions a batch, padding included, the mean of source and target",
    "learning_rate": "the highest learning rate",
    "warmup_steps": "steps of linear warm-up",
    "schedule": "shape of the learning rate after the warm-up",
    "cooldown_steps": "last steps, in which the learning rate falls to zero in a straight line",
    "weight_decay": "weight decay of AdamW, on matrices only",
    "label_smoothing": "share of the target's probability that is spread over the vocabulary",
    "gradient_clip": "highest norm of the gradient",
    "precision": "number format of the products; weights and sums are always fp32",
    "seed": "seed of the initial weights, the batches and the dropout",
    "validate_every": "steps from one validation to the next",
    "validation_sentences": "sentences that a validation translates for BLEU and chrF; 0 takes all",
    "save_every": "steps from one saved state to the next",
    "patience": "validations without a better loss after which the run ends; 0 never ends it early",
    "average_decay": "decay of the running average of the weights, which is what is kept; 0 keeps the last weights",
    "join_share": "share of the examples that are two or three pairs joined",
    "vary_share": "share of the examples whose source is spelled another way",
    "homograph_repeats": "times that each sentence of the homograph set stands in the corpus",
}


class OneSentenceParser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage in front of it; exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:].rstrip('.')}; see `{self.prog} --help`.\n")


def make_parser(program: str = "regard") -> argparse.ArgumentParser:
    """The parser of all commands; the result's `command` says which was given. `program` is how the help calls it."""
    parser = OneSentenceParser(prog=program, description="Watch a Transformer translate; record, train and measure.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_app(commands.add_parser("app", help="show the pages in a browser"))
    _add_translate(commands.add_parser("translate", help="print the translations of sentences"))
    _add_trace(commands.add_parser("trace", help="record a translation with all its attention in a file"))
    _add_train(commands.add_parser("train", help="train a model, or go on with a training that was stopped"))
    _add_evaluate(commands.add_parser("evaluate", help="measure a checkpoint: BLEU, chrF, senses of homographs"))
    _add_info(commands.add_parser("info", help="tell what a checkpoint is, and check its files"))
    return parser


def _add_checkpoint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint", metavar="CHECKPOINT", help="checkpoint folder, or the name of one that ships (default: en-fr)"
    )


def _add_beam(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beam", type=int, default=1, metavar="N", help="beam width (default 1: greedy search)")


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text}")
    return port


def _add_app(parser: argparse.ArgumentParser) -> None:
    parser.description = "Serves the pages until Ctrl-C."
    parser.add_argument("--port", type=_port, default=8501, metavar="N", help="port of the server (default 8501)")
    parser.add_argument(
        "--address", default="localhost", metavar="ADDRESS",
        help="address of the server; 0.0.0.0 serves the network (default: localhost)",
    )  # fmt: skip
    parser.add_argument("options", nargs="*", metavar="OPTION", help="after --: further options of `streamlit run`")


def _add_translate(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints one line a sentence. Exit code 2 if one of them could not be translated."
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT",
        help="a sentence, in quotes; without any, lines are read from standard input (UTF-8)",
    )  # fmt: skip
    _add_checkpoint(parser)
    _add_beam(parser)
    parser.add_argument("--begin", metavar="TEXT", help="how every translation has to begin, in whole words")
    parser.add_argument("--n-best", type=int, metavar="N", help="translations a sentence in the JSON (default: --beam)")
    parser.add_argument("--json", action="store_true", help="one JSON object a sentence: pieces, scores, n-best")


def _add_trace(parser: argparse.ArgumentParser) -> None:
    parser.description = "Writes everything behind one translation to a safetensors file."
    parser.add_argument("text", metavar="TEXT", help="a sentence, in quotes")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write the trace")
    parser.add_argument("--target", metavar="TEXT", help="record this translation instead of searching for one")
    _add_checkpoint(parser)
    _add_beam(parser)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints BLEU and chrF with all references of each sentence, and with its first reference only."
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="checkpoint folder, or the name of one that ships")
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE", help="source TAB reference, one a line; .gz and .zip too"
    )
    _add_beam(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="translate the first N sentences only")
    parser.add_argument("--homographs", action="store_true", help="sense accuracy on the homograph set's held-out part")
    parser.add_argument("--save", action="store_true", help="write what is printed into the checkpoint's metrics.json")


def _add_info(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint", nargs="?", metavar="CHECKPOINT",
        help="checkpoint folder, or the name of one that ships (default: en-fr)",
    )  # fmt: skip
    parser.add_argument(
        "--shape", metavar="SETTINGS",
        help="the parameters of a model of this shape, such as src=32000,tgt=32000,N=6,d_model=512,d_ff=2048,h=8",
    )  # fmt: skip


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Trains in a folder, which holds the best checkpoint so far at any time. Ctrl-C stops after the step; the same "
        "command goes on from there. `torchrun --nproc-per-node=N -m model_core train ...` uses N processes."
    )
    parser.add_argument("--task", choices=("copy",), help="train a small model to copy letters, without a corpus")
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="source TAB target, one a line; .gz and .zip too")
    parser.add_argument("--valid", type=Path, metavar="FILE", help="pairs to judge the model by, in the same format")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the run's folder (for copy: runs/copy)")
    parser.add_argument("--homographs", action="store_true", help="add the homograph set, less what it holds out")
    parser.add_argument("--start-from", metavar="CHECKPOINT", help="begin with its weights and tokenizer")
    purpose = parser.add_argument_group("what the checkpoint says of itself")
    for side in ("source", "target"):
        purpose.add_argument(
            f"--{side}-language", metavar="CODE", help=f"ISO 639 code of the {side} language, such as en or zh"
        )
    purpose.add_argument(
        "--example", action="append", dest="examples", metavar="TEXT",
        help="a sentence that pages offer; may be given several times (default: the first ones of --valid)",
    )  # fmt: skip
    shape = parser.add_argument_group("the model")
    shape.add_argument(
        "--vocabulary", type=int, default=argparse.SUPPRESS, metavar="INT",
        help=f"pieces of the joint vocabulary (default {ModelConfig().source_vocabulary})",
    )  # fmt: skip
    _add_fields(shape, ModelConfig, MODEL_HELP)
    shape.add_argument(  # as older commands say it
        "--no-positions", dest="positions", action="store_const", const="none", default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )  # fmt: skip
    training = parser.add_argument_group(
        "the training", "--task copy has defaults of its own for the model and for this."
    )
    _add_fields(training, TrainingConfig, TRAINING_HELP)


def _add_fields(group: argparse._ArgumentGroup, kind: type[ModelConfig | TrainingConfig], help: dict[str, str]) -> None:
    """One option a setting, named like it. Those that are not given are absent from the result."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in VOCABULARIES:
            _add_field(group, field, hints[field.name], help[field.name])


def _add_field(group: argparse._ArgumentGroup, field: Field, hint: type, text: str) -> None:
    name = f"--{field.name.replace('_', '-')}"
    if field.default is None:  # a setting that follows another one unless it is given
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    else:
        text = f"{text} (default {field.default})"
    if hint is bool:
        group.add_argument(name, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
    elif get_origin(hint) is Literal:
        group.add_argument(name, choices=get_args(hint), default=argparse.SUPPRESS, help=text)
    else:
        group.add_argument(name, type=hint, metavar=hint.__name__.upper(), default=argparse.SUPPRESS, help=text)
