"""One training over several processes (`torchrun`): each takes its rows of every batch, the gradients are summed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
import torch.distributed.nn.functional  # before any group: imported later, its default arguments would keep the group
from torch import Tensor, nn


@dataclass(frozen=True)
class Workers:
    """This process among those that train together. Rank 0 alone validates, saves and prints."""

    rank: int = 0
    world: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def first(self) -> bool:
        return self.rank == 0

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Adds up the gradients of all processes, in one message."""
        if self.world == 1:
            return
        trainable = [p for p in parameters if p.requires_grad]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in trainable])
        dist.all_reduce(flat)
        for parameter, part in zip(trainable, flat.split([p.numel() for p in trainable]), strict=True):
            parameter.grad = part.view_as(parameter)

    def sum(self, value: Tensor) -> Tensor:
        """The sum of a scalar over all processes."""
        if self.world > 1:
            dist.all_reduce(value)
        return value

    def any(self, flag: bool) -> bool:
        """True for everybody as soon as it is true for one, so that all stop at the same step."""
        if self.world == 1:
            return flag
        return bool(self.sum(torch.tensor(int(flag), device=self.device)))

    def from_first(self, value: float) -> float:
        """The first process's number; what the others pass is not looked at."""
        if self.world == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.broadcast(shared, src=0)
        return float(shared)

    def wait(self) -> None:
        """Until all processes are here: for files that the first one writes and all read."""
        if self.world > 1:
            dist.barrier()


def join_workers() -> Workers:
    """Joins the processes that `torchrun` started (gloo on the CPU, nccl on CUDA); alone without it."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")
    if world == 1:
        return Workers(device=device)
    if cuda:
        torch.cuda.set_device(device)
    if not dist.is_initialized():
        dist.init_process_group("nccl" if cuda else "gloo")
    return Workers(dist.get_rank(), world, device)


@contextmanager
def joined_workers() -> Iterator[Workers]:
    """`join_workers`, and at the end of the block the processes take leave of each other.

    Nothing of the group is left then. A thread of gloo that outlived it could end the process by SIGABRT as the
    interpreter exits. The optimizer's first step imports `torch.distributed.nn.functional`, whose functions take the
    group of that moment as a default argument and so keep it alive: this module imports it before there is a group.
    """
    workers = join_workers()
    try:
        yield workers
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
