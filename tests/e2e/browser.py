"""A real browser without a window, for pages as people see them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.common.exceptions import SessionNotCreatedException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

WIDE = (1600, 1000)
STARTS = 5
"""How often it is started at the most: its driver waits for a minute each time."""

LOCATIONS = {"chromium": "chromium", "chromedriver": "chromedriver"}


def require_browser() -> None:
    """Skips where there is no Chromium, except on the machine that decides: there it has to be."""
    missing = [name for name in LOCATIONS.values() if shutil.which(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not found; `apt-get install chromium chromium-driver` brings both"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


@contextmanager
def running_browser(folder: Path) -> Iterator[Chrome]:
    """Chromium for as long as the block runs."""
    browser = _started(folder, STARTS)
    try:
        yield browser
    finally:
        browser.quit()


def _started(folder: Path, times: int) -> Chrome:
    try:
        return _start(folder / f"profile-{times}")
    except SessionNotCreatedException:
        if times == 1:
            raise
        return _started(folder, times - 1)


def _start(profile: Path) -> Chrome:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in [
        "--headless=new",
        "--no-sandbox",  # tests may run as root, in a container
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
    ]:
        options.add_argument(argument)
    return Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))


def show(browser: Chrome, page: str, size: tuple[int, int] = WIDE, theme: str = "light") -> None:
    """Opens a page for a reader who prefers a light or a dark theme."""
    scheme = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    resize(browser, *size)
    browser.get(page)


def resize(browser: Chrome, width: int, height: int) -> None:
    """A window cannot be as narrow as a page on a telephone; the page itself can."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
