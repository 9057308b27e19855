"""A real browser without a window, for pages as people see them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

WIDE = (1600, 1000)
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
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in [
        "--headless=new",
        "--no-sandbox",  # tests may run as root, in a container
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]:
        options.add_argument(argument)
    service = ChromeService(shutil.which("chromedriver"))
    browser = Chrome(options=options, service=service)
    try:
        yield browser
    finally:
        browser.quit()


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
