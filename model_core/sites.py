"""The three places where a Transformer attends (Vaswani et al. 2017, section 3.2.3)."""

from __future__ import annotations

from typing import Literal, get_args

Site = Literal["encoder_self", "decoder_self", "cross"]
SITES: tuple[Site, ...] = get_args(Site)
