"""The pages and the bar that leads to them, the glossary among it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from viz.glossary import glossary

PAGES = Path(__file__).resolve().parent / "pages"


@dataclass(frozen=True)
class Entry:
    """A page: its script, its title, an icon, and what it is for in a few words."""

    name: str
    title: str
    icon: str
    hint: str

    @property
    def script(self) -> str:
        """The script's absolute path, so that the app starts from any folder."""
        return str(PAGES / f"{self.name}.py")


ENTRIES = (
    Entry("attend", "Attend", ":material/visibility:", "Every attention map of a translation"),
    Entry("decode", "Decode", ":material/skip_next:", "The translation, step by step"),
    Entry("masks", "Masks", ":material/grid_on:", "What may look at what"),
    Entry("positions", "Positions", ":material/ssid_chart:", "How the model knows the order"),
    Entry("meaning", "Meaning", ":material/account_tree:", "How a word's vector shifts with its sentence"),
    Entry("inside", "Inside a head", ":material/calculate:", "One head with all its numbers"),
    Entry("learn", "Learn", ":material/school:", "Attention while it is learned"),
)


def navigation_bar() -> None:
    """Links to all pages. They carry nothing: `viz.linked` brings the selection along."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="navigation"):
        for entry in ENTRIES:
            if not Path(entry.script).exists():
                continue
            st.page_link(entry.script, label=entry.title, icon=entry.icon, help=entry.hint)
        if st.button("Glossary", icon=":material/menu_book:", type="tertiary", key="glossary"):
            glossary()
