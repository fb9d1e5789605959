"""One template for all figures, in light and dark, and the parts that figures share."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import viz.figures
from tests.figures.looks import examples, heatmap_stops, look
from viz.figures.template import (
    axis_holder,
    faint_grid,
    frame,
    label_pixels,
    palette_of,
    series_line,
    short_bar,
    template,
    text_ticks,
)
from viz.theme import DARK, FONT, LIGHT, escape_label, label_width, palette

THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
OWN_LOOK = re.compile(r"\b(?:family|paper_bgcolor|plot_bgcolor|gridcolor|griddash|zerolinecolor)\b")


def figure_functions() -> set[str]:
    """The public functions of viz.figures that return a figure, as "module.function"."""
    names = set()
    for entry in pkgutil.iter_modules(viz.figures.__path__):
        module = importlib.import_module(f"viz.figures.{entry.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            public = function.__module__ == module.__name__ and not name.startswith("_")
            if public and function.__annotations__.get("return") == "go.Figure":
                names.add(f"{entry.name}.{name}")
    return names


def faults(path: str, text: str) -> list[str]:
    """Lines in which a file of viz/figures other than the template's sets a part of the common look."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{path}:{number}: {line.strip()}" for number, line in lines if OWN_LOOK.search(line)]


@THEMES
def test_every_figure_has_the_one_template(dark: bool) -> None:
    figures = examples(dark)
    assert set(figures) == figure_functions(), "tests/figures/looks.py has one example of every figure function"
    for name, figure in figures.items():
        layout: Any = figure.layout
        assert layout.template == template(palette(dark)), name


@THEMES
def test_no_figure_overrides_font_background_or_text_colour(dark: bool) -> None:
    colours = palette(dark)
    for name, figure in examples(dark).items():
        page = look(figure)
        assert (page["font"]["family"], page["font"]["color"]) == (FONT, colours.text), name
        assert page["paper_bgcolor"] == colours.background, name
        assert page["hoverlabel"]["font"]["family"] == FONT, name


def test_no_other_file_sets_the_common_look(repository: Path) -> None:
    files = [path for path in (repository / "viz" / "figures").glob("*.py") if path.name != "template.py"]
    assert len(files) > 10
    wrong = [fault for path in files for fault in faults(path.name, path.read_text(encoding="utf-8"))]
    # The page around a figure that is taken home is written in CSS.
    assert [fault for fault in wrong if "font-family: {font}" not in fault] == []


@pytest.mark.parametrize("line", ['"gridcolor": "red"', 'paper_bgcolor="white"', '{"font": {"family": "Arial"}}'])
def test_a_file_that_sets_it_would_be_noticed(line: str) -> None:
    assert faults("some.py", f"x = 1\n{line}") == [f"some.py:2: {line}"]


def test_drag_zooms_unless_a_figure_says_no() -> None:
    still = {name for name, figure in examples(False).items() if look(figure).get("dragmode") is False}
    assert still == {"products.product_bars"}


def test_a_template_is_short_and_made_once() -> None:
    assert template(LIGHT) is template(LIGHT) != template(DARK)
    assert len(json.dumps(template(LIGHT).to_plotly_json())) < 2500, "it goes to the browser with every figure"


@THEMES
def test_heatmaps_have_the_palettes_scale_unless_they_name_their_own(dark: bool) -> None:
    figures, colours = examples(dark), palette(dark)
    for name, scale in (
        ("heatmap.attention_heatmap", colours.sequential),
        ("learning.film_strip", colours.sequential),
        ("positions.encoding_heatmap", colours.diverging),
        ("meaning.cosine_heatmap", colours.diverging),
    ):
        stops = heatmap_stops(figures[name])
        assert [colour for _, colour in stops] == list(scale), name
        assert [share for share, _ in stops] == pytest.approx([i / (len(scale) - 1) for i in range(len(scale))])


@THEMES
def test_a_figure_knows_its_palette(dark: bool) -> None:
    assert all(palette_of(figure) is palette(dark) for figure in examples(dark).values())
    assert palette_of(go.Figure()) is LIGHT


def test_a_frame_adds_its_margins_to_the_plots_height() -> None:
    page = look(go.Figure(layout=frame(LIGHT, 100, left=3, right=5, top=7, bottom=11)))
    assert page["height"] == 118
    assert page["margin"] == {"l": 3, "r": 5, "t": 7, "b": 11, "pad": 0, "autoexpand": False}
    wide = frame(LIGHT, 100, left=3, right=5, top=7, bottom=11, expand=True)
    assert look(go.Figure(layout=wide))["margin"]["autoexpand"] is True


def test_ticks_stand_at_places_and_equal_labels_stay_apart() -> None:
    assert text_ticks((1, 2, 3), ("a", "a", "b")) == {"tickvals": [1, 2, 3], "ticktext": ["a", "a", "b"]}
    assert text_ticks(range(7), list("abcdefg"), 3) == {"tickvals": [0, 3, 6], "ticktext": ["a", "d", "g"]}


def test_room_for_labels_is_that_of_the_longest_as_it_is_read() -> None:
    labels = [escape_label(text) for text in ("a", "<<<<")]
    assert label_pixels(labels, 12) == 12 * label_width("<<<<") < 12 * label_width(labels[1])
    assert label_pixels([], 12) == 0


def test_the_holder_of_an_axis_is_not_seen() -> None:
    holder: Any = axis_holder("y3")
    assert (holder.yaxis, holder.x, holder.y) == ("y3", (None,), (None,))
    assert holder.hoverinfo == "skip" and holder.showlegend is False


def test_a_colour_bar_lies_over_the_cells_with_its_texts() -> None:
    bar = short_bar("weight", {0.0: "0", 1.0: "1"}, 0.25, length=0.6)
    assert (bar["orientation"], bar["y"], bar["yanchor"], bar["len"]) == ("h", 1.25, "bottom", 0.6)
    assert (bar["tickvals"], bar["ticktext"]) == ([0.0, 1.0], ["0", "1"])


def test_neighbouring_lines_differ_in_colour_and_dash() -> None:
    lines = [series_line(DARK, index) for index in range(8)]
    assert all(one["color"] != two["color"] and one["dash"] != two["dash"] for one, two in itertools.pairwise(lines))
    assert series_line(DARK, 8)["color"] == DARK.series[0]


def test_a_faint_grid_is_the_grids_colour_seen_through() -> None:
    red, green, blue = bytes.fromhex(LIGHT.hatch[1:])
    assert faint_grid(LIGHT)["gridcolor"] == f"rgba({red},{green},{blue},0.35)"
