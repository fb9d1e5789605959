"""The scripts that components share, run in a page of their own."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import ROOT
from viz.theme import LIGHT

FOLDER = ROOT / "viz" / "components" / "shared"
SHARED = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))


def run(page: Page, body: str, argument: Any = None) -> Any:
    """What a function body returns that may use all shared scripts and has its argument as `given`."""
    return page.evaluate(f"async (given) => {{ {SHARED}; {body} }}", argument)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [(-0.000268, 2, "0.00"), (-0.006, 2, "−0.01"), (0, 3, "0.000"), (-12.5, 1, "−12.5"), (0.3, 2, "0.30")],
)
def test_a_minus_is_a_true_one_and_zero_has_none(page: Page, number: float, digits: int, text: str) -> None:
    assert run(page, "return minus(...given);", [number, digits]) == text


def test_one_is_one(page: Page) -> None:
    texts = run(page, "return [0, 1, 2, 1200].map((number) => counted(number, 'piece'));")
    assert texts == ["0 pieces", "1 piece", "2 pieces", "1,200 pieces"]


def test_a_view_is_made_once_an_element_and_goes_with_it(page: Page) -> None:
    calls = run(
        page,
        """
          const calls = [];
          const create = (host) => ({
            receive: (data, state, trigger) => calls.push([host, data, state, trigger]),
            remove: () => calls.push([host, "gone"]),
          });
          const component = mounted((host) => (calls.push([host.id, "made"]), create(host.id)));
          const [a, b] = ["a", "b"].map((id) => Object.assign(document.createElement("div"), { id }));
          const answers = { setStateValue: 1, setTriggerValue: 2 };
          const give = (parentElement, data) => component({ data, parentElement, ...answers });
          const leave = give(a, "x");
          give(b, "y"), give(a, "z"), leave(), give(a, "w");
          return calls;
        """,
    )
    wanted = [("a", "made"), ("a", "x", 1, 2), ("b", "made"), ("b", "y", 1, 2), ("a", "z", 1, 2), ("a", "gone")]
    assert calls == [list(call) for call in (*wanted, ("a", "made"), ("a", "w", 1, 2))]


def test_a_view_that_goes_reports_nothing_any_more(page: Page) -> None:
    reports = run(
        page,
        """
          const reports = [];
          const view = new View();
          view.root = make("div", "view");
          view.handshake = new Handshake("step", (step) => ({ step }));
          view.handshake.follow({ key: "k", token: "a" }, 1, (...report) => reports.push(report));
          view.enter(document.body);
          const inside = view.root.isConnected;
          view.handshake.report(5);
          view.remove();
          await new Promise((done) => setTimeout(done, 60));
          return [inside, view.root.isConnected, reports];
        """,
    )
    assert reports == [True, False, []]


def test_a_wish_counts_once_and_a_view_that_comes_back_shows_what_it_showed(page: Page) -> None:
    values = run(
        page,
        """
          const fresh = () => new Handshake("step", (step) => ({ step }));
          const values = [];
          const first = fresh();
          const see = (handshake, token, wish, key = "k") =>
            values.push([handshake.follow({ key, token }, wish, () => {}), handshake.value]);
          see(first, "a", 3);
          first.set(5);
          see(first, "a", 3);
          see(fresh(), "a", 3); // mounted anew
          see(fresh(), "a", 3, "other key");
          see(first, "b", 7);
          see(fresh(), "c", 9); // mounted anew with another wish
          return values;
        """,
    )
    assert values == [[True, 3], [False, 5], [True, 5], [True, 3], [True, 7], [True, 9]]


def test_the_last_value_of_a_run_is_reported_with_the_wish_s_token(page: Page) -> None:
    reports = run(
        page,
        """
          const reports = [];
          const handshake = new Handshake("step", (step) => ({ step }));
          handshake.follow({ key: "k", token: "a" }, 1, (...report) => reports.push(report));
          handshake.set(2), handshake.report(5);
          handshake.set(3), handshake.report(5);
          await new Promise((done) => setTimeout(done, 60));
          handshake.set(4), handshake.report();
          handshake.set(5), handshake.report(5);
          handshake.follow({ key: "k", token: "b" }, 9, () => reports.push("after a new wish"));
          await new Promise((done) => setTimeout(done, 60));
          return reports;
        """,
    )
    assert reports == [["step", {"step": 3, "token": "a"}], ["step", {"step": 4, "token": "a"}]]


def test_a_scale_has_the_same_colours_as_in_python(page: Page) -> None:
    shares = [-1, 0, 0.03, 0.4, 0.5, 0.77, 1, 2]
    colours = run(page, "return given.shares.map((share) => colourAt(given.scale, share));", {
        "scale": LIGHT.sequential, "shares": shares,
    })  # fmt: skip
    assert colours == [[*bytes.fromhex(LIGHT.colour_at(share)[1:])] for share in shares]
    levels = run(page, "return colourLevels(given, 5);", LIGHT.sequential)
    assert levels == [[*bytes.fromhex(LIGHT.colour_at(level / 5)[1:])] for level in range(6)]


def test_text_on_a_colour_can_be_read(page: Page) -> None:
    colours = [[0, 0, 0], [255, 255, 255], [255, 255, 0], [0, 0, 255], [0, 120, 0], [120, 120, 120], [110, 110, 110]]
    inks = run(page, "return given.map(inkOn);", colours)
    assert inks == ["#fff", "#000", "#000", "#fff", "#fff", "#000", "#fff"]
    assert run(page, "return given.map(isLight);", colours) == [False, True, True, False, False, False, False]


@pytest.mark.parametrize(("background", "theme"), [("#fbfaf7", "light"), ("rgb(20 24 29)", "dark"), ("", "light")])
def test_the_page_s_background_says_which_theme_it_has(page: Page, background: str, theme: str) -> None:
    body = """
      const host = make("div", "");
      document.body.append(host);
      host.style.setProperty("--st-background-color", given);
      setColours(host, { accent: "red" });
      return [ofTheme(host, { light: "light", dark: "dark" }), isDark(host), host.style.getPropertyValue("--accent")];
    """
    assert run(page, body, background) == [theme, theme == "dark", "red"]


def test_pieces_of_a_word_share_a_box(page: Page) -> None:
    pieces = [{"text": text, "joined": joined} for text, joined in (("a", True), ("b", True), ("c", False))]
    body = """
      const chip = (piece, index) => make("i", "", { "data-index": index }, piece.text);
      return wordsOf(given, chip, { role: "listitem" }).map((word) => word.outerHTML);
    """
    words = run(page, body, pieces)
    box = '<span class="word" role="listitem">{}</span>'
    both = '<i data-index="0">a</i><i data-index="1">b</i>'
    assert words == [box.format(both), box.format('<i data-index="2">c</i>')]


def test_a_tint_brings_its_ink_and_a_special_piece_its_look(page: Page) -> None:
    body = """
      const chip = make("span", "chip");
      tint(chip, ["#ffffff", "#000000"], given);
      const text = textOfPiece({ text: "<b>", special: true });
      return [chip.style.background, chip.style.color, text.className, text.textContent];
    """
    assert run(page, body, 1) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)", "special", "<b>"]
    assert run(page, body, 0)[:2] == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


def test_a_text_is_cut_between_letters_and_not_inside_one(page: Page) -> None:
    family = "👩‍👩‍👧"  # one letter of five code points
    body = """
      const context = { measureText: (text) => ({ width: [...new Intl.Segmenter().segment(text)].length }) };
      return given.map(([text, room]) => fitted(context, text, room));
    """
    cuts = run(page, body, [["abc", 3], ["abcd", 3], [family * 3, 2], ["ab", 0]])
    assert cuts == ["abc", "ab…", family + "…", "a…"]


def test_a_part_of_a_picture_acts_as_a_button(page: Page) -> None:
    acted = run(
        page,
        """
          const svg = sized(draw("svg"), 30, 50);
          document.body.append(svg);
          const node = draw("g");
          svg.append(node);
          let [acts, outside] = [0, 0];
          makePressable(node, "Choose", () => (acts += 1));
          svg.addEventListener("keydown", () => (outside += 1));
          const kind = { bubbles: true, cancelable: true };
          const press = (key) => node.dispatchEvent(new KeyboardEvent("keydown", { key, ...kind }));
          const left = ["Enter", " ", "a"].map(press);
          node.dispatchEvent(new MouseEvent("click"));
          const attributes = ["role", "tabindex", "aria-label"].map((name) => node.getAttribute(name));
          return [acts, outside, left, attributes, svg.getAttribute("viewBox")];
        """,
    )
    assert acted == [3, 1, [False, False, True], ["button", "0", "Choose"], "0 0 30 50"]


def test_a_line_of_json_and_the_bytes_behind_it_are_told_apart(page: Page) -> None:
    body = """
      const bytes = new TextEncoder().encode('{"a":"é"}\\n\\nb');
      return [bytes, bytes.buffer].map((data) => {
        const [header, rest] = splitLine(data);
        return [header.a, [...rest]];
      });
    """
    assert run(page, body) == [["é", [10, 98]], ["é", [10, 98]]]


def test_every_second_part_of_a_sentence_may_be_written_from_right_to_left(page: Page) -> None:
    body = "return sentenceOf(given).map((part) => [part.tagName, part.textContent]);"
    assert run(page, body, ["from ", "<b>", " to ", "שלום"]) == [
        ["SPAN", "from "], ["BDI", "<b>"], ["SPAN", " to "], ["BDI", "שלום"],
    ]  # fmt: skip
