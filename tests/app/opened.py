"""The app at one of its pages, as a link opens it, and what it says."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parent.parent.parent


def open_app(page: str = "attend", **query: str | list[str]) -> AppTest:
    """Runs the page's script once, with this query in its link."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    if page != "attend":
        app.switch_page(f"viz/pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> str:
    """Everything that the page says in words, a line each."""
    said = [*app.text, *app.caption, *app.markdown, *app.info, *app.warning, *app.error]
    return "\n".join(str(element.value) for element in said)
