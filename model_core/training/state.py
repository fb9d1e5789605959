"""The state from which a training run goes on: one safetensors file, replaced in one move, never a pickle."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from model_core.files import written_beside
from model_core.model.transformer import Transformer

MODEL, AVERAGE, FIRST_MOMENT, SECOND_MOMENT = "model.", "average.", "exp_avg.", "exp_avg_sq."


class StateError(ValueError):
    """A saved state that cannot be continued from."""


def state_path(folder: Path) -> Path:
    """The file in which the run of a folder keeps its state."""
    return folder / "training" / "state.safetensors"


@dataclass
class Progress:
    """The progress of a run. `batch` counts the batches of epoch `epoch` that are done; `window_loss` is the summed
    loss of the `window_tokens` target tokens since the last row of the log."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    target_tokens: int = 0
    best_loss: float = float("inf")
    best_step: int = 0
    validations_since_best: int = 0
    window_loss: float = 0.0
    window_tokens: int = 0


def save_state(
    path: Path, model: Transformer, average: dict[str, Tensor], optimizer: torch.optim.AdamW, progress: Progress
) -> None:
    """Writes beside `path`, then moves into place: a run killed at any moment leaves the old state or the new one."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        tensors[MODEL + name] = parameter.detach().cpu()
        moments = optimizer.state.get(parameter, {})
        if moments:
            tensors[FIRST_MOMENT + name] = moments["exp_avg"].cpu()
            tensors[SECOND_MOMENT + name] = moments["exp_avg_sq"].cpu()
    tensors |= {AVERAGE + name: tensor.cpu() for name, tensor in average.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with written_beside(path) as unfinished:
            save_file(tensors, unfinished, metadata={"progress": json.dumps(asdict(progress))})
    except SafetensorError as error:
        raise StateError(f"{path} can't be written: {error}.") from error


def load_state(path: Path, model: Transformer, average: dict[str, Tensor], optimizer: torch.optim.AdamW) -> Progress:
    """Puts a saved state into the model, the running average and the optimizer.

    Raises:
        StateError: the file is damaged, or belongs to a model of another shape; names it.
    """
    try:
        with safe_open(str(path), framework="pt") as file:
            progress = Progress(**json.loads((file.metadata() or {})["progress"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- no mapping
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise StateError(f"{path} holds no training state that this version can continue: {error}.") from error
    parameters = dict(model.named_parameters())
    _check_fit(path, tensors, parameters)
    for name, parameter in parameters.items():
        parameter.data.copy_(tensors[MODEL + name])
        average[name].copy_(tensors.get(AVERAGE + name, tensors[MODEL + name]))
        if FIRST_MOMENT + name in tensors:
            optimizer.state[parameter] = {
                "step": torch.tensor(float(progress.step)),
                "exp_avg": tensors[FIRST_MOMENT + name].to(parameter.device),
                "exp_avg_sq": tensors[SECOND_MOMENT + name].to(parameter.device),
            }
    return progress


def _check_fit(path: Path, tensors: dict[str, Tensor], parameters: dict[str, torch.nn.Parameter]) -> None:
    """Raises StateError unless the tensors are those of a model with these parameters, and its moments."""
    advice = "continue with the settings that the run was started with, or choose another folder"
    missing = [name for name in parameters if MODEL + name not in tensors]
    missing += [name for name in parameters if (FIRST_MOMENT + name in tensors) != (SECOND_MOMENT + name in tensors)]
    foreign = [key for key in tensors if _parameter_name(key) not in parameters]
    if missing or foreign:
        raise StateError(
            f"{path} is the state of another model: {len(missing)} of its tensors are missing "
            f"({', '.join(missing[:3]) or 'none'}), {len(foreign)} are foreign ({', '.join(foreign[:3]) or 'none'}); "
            f"{advice}."
        )
    for key, tensor in tensors.items():
        shape = parameters[_parameter_name(key)].shape
        if tensor.shape != shape:
            raise StateError(f"{path}: {key} has shape {list(tensor.shape)}, the model's {list(shape)}; {advice}.")


def _parameter_name(key: str) -> str:
    """The parameter that a tensor belongs to; empty if the tensor is no part of a state."""
    return next((key.removeprefix(p) for p in (MODEL, AVERAGE, FIRST_MOMENT, SECOND_MOMENT) if key.startswith(p)), "")
