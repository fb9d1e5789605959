"""Chromium, the app's server, and a guard over a page, for browser tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The outside does not exist: a page that needs it fails here as it would in a classroom without a network.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
LOCAL_SCHEMES = frozenset({"data", "blob", "about", "chrome-extension"})
START_SECONDS = 120
QUIET_MS = 150

# Streamlit says in an attribute whether the script runs. Just after a click it does not run yet, so idle means quiet
# for a while. Elements that a run is about to replace are stale.
IDLE = """
quiet => {
  const app = document.querySelector('[data-testid="stApp"]');
  const idle = app !== null
    && app.getAttribute('data-test-connection-state') === 'CONNECTED'
    && app.getAttribute('data-test-script-state') === 'notRunning'
    && document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]') === null;
  if (!idle || window.regardIdleSince === undefined) window.regardIdleSince = performance.now();
  return idle && performance.now() - window.regardIdleSince >= quiet;
}
"""


class ChromiumMissing(RuntimeError):  # noqa: N818 - the name says what is wrong
    """No Chromium on this machine. The message says what to install."""


def find_chromium() -> str:
    """The path of Chromium: the CHROMIUM variable, else the first of NAMES on PATH. Raises ChromiumMissing."""
    named = os.environ.get("CHROMIUM", "")
    for name in (named,) if named else NAMES:
        if path := shutil.which(name):
            return path
    if named:
        raise ChromiumMissing(f"CHROMIUM is {named!r}, which cannot be run: set it to the path of a Chromium.")
    raise ChromiumMissing(
        "Browser tests need Chromium: apt-get install chromium fonts-noto-cjk fonts-noto-color-emoji, "
        "or set CHROMIUM to the path of a Chromium or Chrome."
    )


def wait_idle(page: Page, timeout_s: float = 60) -> None:
    """Waits until Streamlit's script has run and the page shows its elements. Raises Playwright's TimeoutError."""
    page.evaluate("() => { window.regardIdleSince = undefined; }")
    page.wait_for_function(IDLE, arg=QUIET_MS, timeout=timeout_s * 1000)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class AppServer:
    """`streamlit run SCRIPT` on a free port of this machine, as a context manager; its output is kept in a file.

    The repository's configuration applies, whatever the script. Raises RuntimeError, with the output, where the server
    ends or does not answer within START_SECONDS.
    """

    def __init__(self, script: Path, output: Path, options: Sequence[str] = ()) -> None:
        self.script, self.output, self.options = script, output, tuple(options)
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> AppServer:
        with self.output.open("wb") as out:
            self.process = self._start(out)
        try:
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def log(self) -> str:
        """The server's output so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """Ends the server and all that it started."""
        process, self.process = self.process, None
        if process is None:
            return
        for sign, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
            try:
                os.killpg(process.pid, sign)
                process.wait(seconds)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    def _start(self, out: IO[bytes]) -> subprocess.Popen[bytes]:
        address = ("--server.port", str(self.port), "--server.address", "127.0.0.1", "--server.headless", "true")
        command = [sys.executable, "-m", "streamlit", "run", str(self.script), *address, *self.options]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, so that stop() reaches its children too
        )

    def _wait_until_healthy(self) -> None:
        # A proxy in the environment must not come between this process and its own server.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.process is None or self.process.poll() is not None:
                raise RuntimeError(f"The app's server ended before it answered. Its output:\n{self.log()}")
            try:
                with direct.open(f"{self.url}/_stcore/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        raise RuntimeError(f"The app's server did not answer within {START_SECONDS} s. Its output:\n{self.log()}")


class PageGuard:
    """Notes two faults of a page: asking for anything outside its own server, and throwing an uncaught error.

    Another port of this machine is outside too: a picture that a pasted sentence points to must not be fetched.
    """

    def __init__(self, url: str) -> None:
        self.server = urlsplit(url).netloc
        self.outside: list[str] = []
        self.page_errors: list[str] = []
        self.console_errors: list[str] = []

    def watch(self, context: BrowserContext) -> None:
        """Listens to all pages of a context, those that it has not opened yet included."""
        context.on("request", lambda request: self._note(request.url))
        context.on("weberror", lambda error: self.page_errors.append(str(error.error)))
        context.on("console", lambda line: self.console_errors.append(line.text) if line.type == "error" else None)
        context.on("page", lambda page: page.on("websocket", lambda socket: self._note(socket.url)))

    def problems(self) -> str:
        """Why the page's test has to fail; empty if nothing was wrong."""
        sentences = []
        if self.outside:
            sentences.append(f"The page asked for something outside {self.server}: {', '.join(self.outside)}.")
        if self.page_errors:
            sentences.append(f"The page threw {'; '.join(self.page_errors)}.")
        if sentences and self.console_errors:
            sentences.append(f"The console said {'; '.join(self.console_errors)}.")
        return " ".join(sentences)

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.netloc != self.server:
            self.outside.append(url)


if __name__ == "__main__":
    try:
        print(find_chromium())
    except ChromiumMissing as missing:
        sys.exit(str(missing))
