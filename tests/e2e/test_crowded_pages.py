"""Pages that have much to show or something bad to tell, in a real browser, live and in a History Server.

A query of 40 nodes, two that an error has ended, and one whose batch hangs. Pictures are left in the folder
that PICTURES names; without one none are made.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest
from browser import WIDE, show
from children import PATIENCE, Child
from cluster import LINES, Spark, settings, watched
from crowded import AT_ONCE, FAILED, FORTY, HANGS
from history import running_history_server
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from sampling import by_turns

SCRIPT = Path(__file__).parent / "crowded.py"
NODES = 40
SIZES = [(1920, 1000), (1280, 1000), (700, 1000)]
PAGES = ["queries", FORTY, FAILED, AT_ONCE, HANGS]

OVERLAPPING = """
const found = [];
for (const svg of document.querySelectorAll('svg')) {
  const shown = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
  const at = shown.map(text => text.getBoundingClientRect());
  for (let i = 0; i < at.length; i++) for (let j = 0; j < i; j++) {
    const [a, b] = [at[i], at[j]];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 0.3 * Math.min(a.height, b.height))
      found.push([shown[j].textContent, shown[i].textContent]);
  }
}
return found;
"""
"""Texts of a drawing that lie on one another. Lines of letters have some room above and below."""

BEYOND = """
return [...document.querySelectorAll('svg.latency-graph a')].flatMap(node => {
  const box = node.querySelector('.latency-box').getBoundingClientRect();
  return [...node.querySelectorAll('text')].filter(text => {
    const at = text.getBoundingClientRect();
    return at.left < box.left || at.right > box.right || at.bottom > box.bottom + 1;
  }).map(text => text.textContent);
});
"""
"""Texts of nodes that are wider than their node."""

PANE = """
const pane = document.querySelector('svg.latency-graph').parentElement;
const first = pane.querySelector('.latency-box').getBoundingClientRect();
const at = pane.getBoundingClientRect();
return [getComputedStyle(pane).overflowX, first.left >= at.left, at.right <= window.innerWidth];
"""
"""Whether what is around the graph scrolls, shows its first node, and is no wider than the window."""

LOOKS = {
    "width": "return Math.max(document.documentElement.scrollWidth, window.innerWidth)",
    "theme": "return document.documentElement.dataset.bsTheme",
    "overlapping": OVERLAPPING,
    "beyond": BEYOND,
}

FOCUSED = """
const one = document.activeElement;
return one.closest && one.closest('svg.latency-graph') ? one.getAttribute('href') : null;
"""
"""Where the node leads that has the focus."""


@dataclass(frozen=True)
class Crowded:
    """The application."""

    spark: Spark
    driver: Child
    id: str
    ui: str
    folder: Path

    def end(self) -> None:
        (self.folder / "end").touch()
        self.driver.finish(within=60)


@pytest.fixture(scope="module", params=by_turns(LINES))
def crowded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowded]:
    """The test that ends it comes last."""
    folder = tmp_path_factory.mktemp("crowded")
    (folder / "events").mkdir()
    spark = Spark(request.param)
    conf = settings(watched(folder / "events"))
    submit = ["--master", "local[2]", "--driver-memory", "1g", "--jars", str(spark.jar), *conf]
    with spark.start("crowded", folder, "spark-submit", *submit, SCRIPT, folder) as driver:
        driver.until(lambda: ["ready"] in driver.told("crowded"), "all has come about", within=600)
        [[id_, ui], _] = driver.told("crowded")
        yield Crowded(spark, driver, id_, ui, folder)


def opened(browser: Chrome, tab: str, page: str, size: tuple[int, int] = WIDE, theme: str = "light") -> None:
    show(browser, f"{tab}/", size, theme)
    if page != "queries":
        browser.find_element(By.LINK_TEXT, page).click()


def faults(browser: Chrome, tab: str, place: str, theme: str) -> dict[str, object]:
    """What cannot be read well, by picture: what is wider than the window, on another text, or beyond its
    node."""
    found: dict[str, object] = {}
    for page in PAGES:
        opened(browser, tab, page, SIZES[0], theme)
        address = browser.current_url
        for width, height in SIZES:
            if (width, height) != SIZES[0]:
                show(browser, address, (width, height), theme)
            name = f"crowded-{place}-{page.replace(' ', '-')}-{theme}-{width}"
            looks = {question: browser.execute_script(script) for question, script in LOOKS.items()}
            expected = {"width": width, "theme": theme, "overlapping": [], "beyond": []}
            if looks != expected:
                found[name] = looks
            if folder := os.environ.get("PICTURES"):
                take_picture(browser, Path(folder) / f"{name}.png", width, theme)
    return found


def take_picture(browser: Chrome, file: Path, width: int, theme: str) -> None:
    """Of all of the page that is open."""
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["height"]
    show(browser, browser.current_url, (width, int(whole)), theme)
    assert browser.save_screenshot(str(file))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_fit_and_nothing_lies_on_anything(crowded: Crowded, browser: Chrome, theme: str) -> None:
    assert faults(browser, f"{crowded.ui}/latency", "live", theme) == {}


def test_a_wide_graph_scrolls_in_its_own_pane_and_begins_at_its_sources(
    crowded: Crowded, browser: Chrome
) -> None:
    opened(browser, f"{crowded.ui}/latency", FORTY)
    assert browser.execute_script(PANE) == ["auto", True, True]


def test_each_page_says_first_what_is_wrong(crowded: Crowded, browser: Chrome) -> None:
    headlines = {}
    for page in (FAILED, AT_ONCE, HANGS):
        opened(browser, f"{crowded.ui}/latency", page)
        headlines[page] = browser.find_element(By.TAG_NAME, "body").text
    assert "a customer without an address cannot be sent to anybody" in headlines[FAILED]
    assert "An error ended this run: " in headlines[AT_ONCE]
    assert "the table of orders is not there" in headlines[AT_ONCE]
    assert "Batch 3 has run for " in headlines[HANGS]


def test_keys_lead_through_all_nodes_of_the_graph_and_open_them(crowded: Crowded, browser: Chrome) -> None:
    """Nothing but Tab and Enter is pressed, from the top of the page on."""
    opened(browser, f"{crowded.ui}/latency", FORTY)
    links = browser.find_elements(By.CSS_SELECTOR, "svg.latency-graph a")
    drawn = [link.get_attribute("href") for link in links]
    reached: list[str] = []
    for _ in range(200 + len(drawn)):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        focused: str | None = browser.execute_script(FOCUSED)
        if focused is not None:
            reached.append(focused)
            assert browser.execute_script("return document.activeElement.matches(':focus-visible')")
        elif reached:
            break
    assert len(reached) == len(drawn) > 1
    for _ in range(len(reached)):
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    assert browser.execute_script(FOCUSED) == reached[0]
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    # Keys do not wait for the page that they open.
    WebDriverWait(browser, PATIENCE * 60).until(
        lambda one: "node=" in one.current_url and one.find_elements(By.TAG_NAME, "h5")
    )
    assert [chart.text for chart in browser.find_elements(By.TAG_NAME, "h5")] == ["source-0"]


def answers(application: str, server: str) -> bool:
    try:
        with urlopen(f"{server}/api/v1/applications/{application}", timeout=60) as answer:  # noqa: S310
            return int(answer.status) == HTTPStatus.OK
    except (OSError, HTTPException):  # it is starting up
        return False


def test_pages_fit_in_a_history_server_too(crowded: Crowded, browser: Chrome, tmp_path: Path) -> None:
    """It ends the application, and with it the query that hung."""
    crowded.end()
    known = partial(answers, crowded.id)
    with running_history_server(crowded.spark, crowded.folder / "events", tmp_path, known) as server:
        tab = f"{server}/history/{crowded.id}/latency"
        found = [faults(browser, tab, "history", theme) for theme in ("light", "dark")]
    assert found == [{}, {}]
