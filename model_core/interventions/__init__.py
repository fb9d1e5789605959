"""Watching and changing a model at its named points."""

from model_core.interventions.intervention import Intervention, Interventions, listed, make_call
from model_core.interventions.names import PointError, point_names, points_matching, site_of, site_point, site_points
from model_core.interventions.ready import Change, ForcedAlignment, HeadKnockout, Record, record_attention

__all__ = [
    "Change", "ForcedAlignment", "HeadKnockout", "Intervention", "Interventions", "PointError", "Record", "listed",
    "make_call", "point_names", "points_matching", "record_attention", "site_of", "site_point",
    "site_points",
]  # fmt: skip
