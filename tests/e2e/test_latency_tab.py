"""The tab of Spark's UI in a real browser: of a running application, and of the same in a History Server.

Pictures in each theme and width are left in the folder that PICTURES names, else in pytest's own.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from browser import WIDE, resize, show
from children import PATIENCE, Child
from click.testing import CliRunner
from cluster import LINES, Spark, settings, watched
from history import running_history_server
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from shop import BATCHES, ORDERS

from sampling import by_turns
from sparklatency import SparkLatencyError, latency
from sparklatency.cli import main

SHOP = Path(__file__).parent / "shop.py"
USERS = "org.apache.spark.deploy.yarn.AmIpFilter"
"""Spark's own, for YARN: believes a cookie, if it comes from the proxy's host."""
WITH_USERS = {
    "spark.history.ui.acls.enable": "true",
    "spark.ui.filters": USERS,
    f"spark.{USERS}.param.PROXY_HOSTS": "127.0.0.1",
    f"spark.{USERS}.param.PROXY_URI_BASES": "http://127.0.0.1/proxy",
}
NARROW = (600, 1000)
WIDTHS = (1920, 1280, 700)
"""Of windows in which every page has to fit."""
Row = dict[str, str]


@dataclass(frozen=True)
class Shop:
    """The application, and its query's run."""

    spark: Spark
    driver: Child
    id: str
    ui: str
    run: str
    folder: Path
    before: str
    """The tab's first page before there was a query."""

    @property
    def events(self) -> Path:
        return self.folder / "events"

    @property
    def page(self) -> str:
        return f"{self.ui}/latency/query/?id={self.run}"

    def stop_query(self) -> None:
        """The UI stays as long as the application does."""
        (self.folder / "stop").touch()
        self.driver.until(lambda: ["stopped"] in self.driver.told("shop"), "the query stops", within=60)
        self.driver.until(self._has_finished, "that is known", within=60)

    def _has_finished(self) -> bool:
        try:
            return latency(self.run, url=self.ui).queries[0].status == "FINISHED"
        except SparkLatencyError:
            return False

    def end(self) -> None:
        """Ends the query and the application, whose event log is complete then."""
        for step in ("stop", "end"):
            (self.folder / step).touch()
        self.driver.finish(within=60)


@pytest.fixture(scope="module", params=by_turns(LINES))
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The tests that end it come last."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "events").mkdir()
    spark = Spark(request.param)
    conf = {
        **watched(folder / "events"),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.view.acls": "alice",  # for a History Server that looks at it
    }
    submit = ["--master", "local[2]", "--driver-memory", "1g", "--jars", str(spark.jar), *settings(conf)]
    with spark.start("shop", folder, "spark-submit", *submit, SHOP, str(BATCHES), folder) as driver:
        said = partial(driver.told, "shop")
        [[id_, ui]] = driver.until(said, "it has a UI", within=90)
        before = text(f"{ui}/latency/")
        (folder / "start").touch()
        [_, [run]] = driver.until(lambda: said()[1:] and said(), "it has measured", within=240)
        yield Shop(spark, driver, id_, ui, run, folder, before)


def rows(browser: Chrome, table: str) -> list[Row]:
    """The text of each row of a table, by its headings."""
    script = (
        "const texts = row => [...row.cells].map(cell => cell.innerText);"
        "return [...document.getElementById(arguments[0]).rows].map(texts)"
    )
    cells: list[list[str]] = browser.execute_script(script, table)
    headings = [re.sub(r"\W+$", "", heading) for heading in cells[0]]
    return [dict(zip(headings, row, strict=True)) for row in cells[1:]]


def column(browser: Chrome, table: str, name: str) -> list[str]:
    return [row[name] for row in rows(browser, table)]


def text(url: str) -> str:
    with urlopen(url, timeout=PATIENCE * 60) as answer:  # noqa: S310  of a UI that has just begun it takes long
        return str(answer.read().decode())


def rest(server: str, application: str, path: str) -> Any:
    return json.loads(text(f"{server}/api/v1/applications/{application}/latency/{path}"))


def test_without_a_query_the_tab_says_what_to_do(shop: Shop) -> None:
    assert "No figures yet: no batch of a query with a marked node has ended." in shop.before
    assert "with_e2e_latency(df, " in shop.before
    assert "spark.sparklatency.auto=source,terminal" in shop.before


def test_the_tab_leads_from_the_jobs_page_to_the_slow_step(shop: Shop, browser: Chrome) -> None:
    show(browser, f"{shop.ui}/jobs/")
    browser.find_element(By.LINK_TEXT, "Latency").click()
    browser.find_element(By.LINK_TEXT, "shop").click()
    headline = browser.find_element(By.CLASS_NAME, "latency-headline")
    duration = r"[\d.]+ (ms|s|min)"
    # Clicks wait for their orders, and the function is slow. Which leads is the machine's to say.
    share = rf"{duration} of {duration} \(\d+ %\)"
    step = "Slowest step: (before |the stage of )?[^,]+|Most (of it|time) passes between stages with a node"
    work = rf"(Work takes longest, {share}\. )?({step})|Work takes longest"
    waits = "Records wait (in state before join|for the batch before)"
    start = "It takes long until a batch begins to read"
    cause = rf"({work}|{waits}|{start}),|What comes after join takes"
    assert re.match(rf"({cause}) {duration} (of {duration} )?\(\d+ %\)", headline.text), headline.text
    bottom = headline.rect["y"] + headline.rect["height"]
    graph = browser.find_element(By.CLASS_NAME, "latency-graph").rect
    assert bottom < graph["y"]
    assert graph["y"] + graph["height"] < WIDE[1], "the drawing is seen without scrolling"


def test_a_click_on_a_heading_sorts_by_value_and_another_turns_it_round(shop: Shop, browser: Chrome) -> None:
    def number(shown: str) -> float:
        return float(shown.replace(",", ""))

    show(browser, shop.page)
    assert column(browser, "latency-nodes", "Node") == ["clicks", "enrich", ORDERS, "join"]
    browser.find_element(By.XPATH, "//table[@id='latency-nodes']//th[text()='Avg']").click()
    rising = [number(avg) for avg in column(browser, "latency-nodes", "Avg")]
    assert rising == sorted(rising)
    browser.find_element(By.XPATH, "//table[@id='latency-nodes']//th[contains(., 'Avg')]").click()
    assert [number(avg) for avg in column(browser, "latency-nodes", "Avg")] == rising[::-1]


def test_a_click_on_a_node_shows_its_history(shop: Shop, browser: Chrome) -> None:
    show(browser, shop.page)
    node = browser.find_element(
        By.XPATH, "//*[name()='text'][contains(@class, 'latency-id')][starts-with(., 'orders')]"
    )
    node.click()
    assert [chart.text for chart in browser.find_elements(By.TAG_NAME, "h5")] == [ORDERS]


def test_nothing_is_asked_of_another_host_and_no_script_fails(shop: Shop, browser: Chrome) -> None:
    show(browser, shop.page)
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(r => r.name)")
    assert asked
    assert [url for url in asked if not url.startswith(shop.ui)] == []
    log: list[dict[str, str]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    assert [entry for entry in log if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "size"), [("wide", WIDE), ("narrow", NARROW)])
def test_the_tab_is_drawn_in_either_theme_and_any_width(
    shop: Shop, browser: Chrome, tmp_path: Path, theme: str, width: str, size: tuple[int, int]
) -> None:
    folder = Path(os.environ.get("PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    show(browser, shop.page, size, theme)
    assert browser.find_element(By.TAG_NAME, "html").get_attribute("data-bs-theme") == theme
    assert fits(browser)
    assert browser.save_screenshot(str(folder / f"latency-tab-{theme}-{width}.png"))


def fits(browser: Chrome) -> bool:
    """What is wider than the window scrolls in a box of its own."""
    return bool(browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"))


def widths_that_fit(browser: Chrome) -> list[int]:
    found = []
    for width in WIDTHS:
        resize(browser, width, 1000)
        if fits(browser):
            found.append(width)
    resize(browser, *WIDE)
    return found


def test_both_pages_fit_in_windows_of_every_width(shop: Shop, browser: Chrome) -> None:
    show(browser, shop.page)
    assert widths_that_fit(browser) == [*WIDTHS]
    browser.get(f"{shop.ui}/latency/")
    assert widths_that_fit(browser) == [*WIDTHS]


def test_the_list_shows_every_column_in_windows_of_every_width(shop: Shop, browser: Chrome) -> None:
    """Also of a query with a long name, that an error of a class with a long name has ended."""
    script = (
        "document.querySelector('#latency-queries a').innerText = arguments[0];"
        "document.querySelector('#latency-queries td:nth-child(2)').innerText = arguments[1];"
        "const box = document.getElementById('latency-queries').parentElement;"
        "return box.scrollWidth <= box.clientWidth"
    )
    name, error = "orders of the European market", "org.apache.spark.SparkException: cancelled"
    show(browser, f"{shop.ui}/latency/")
    for width in WIDTHS:
        resize(browser, width, 1000)
        assert browser.execute_script(script, name, error), width


def operators(server: str, application: str) -> str:
    """What the terminal shows of the query's nodes."""
    options = ["--url", server, "--app", application]
    done = CliRunner().invoke(main, ["operators", *options], prog_name="sparklatency")
    assert done.exit_code == 0, done.output
    return done.stdout


def history_server(shop: Shop, folder: Path, conf: Mapping[str, str]) -> AbstractContextManager[str]:
    known = f"api/v1/applications/{shop.id}"
    return running_history_server(
        shop.spark,
        shop.events,
        folder,
        lambda server: status(f"{server}/{known}", "alice") == HTTPStatus.OK,
        conf,
    )


def status(url: str, user: str) -> int:
    request = Request(url, headers={"Cookie": f"proxy-user={user}"})  # noqa: S310
    try:
        # A History Server reads the event log before it answers.
        with urlopen(request, timeout=PATIENCE * 60) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as refused:
        return refused.code
    except (OSError, HTTPException):  # it is starting up
        return 0


def test_the_history_server_shows_what_the_application_did(
    shop: Shop, browser: Chrome, tmp_path: Path
) -> None:
    """It ends the query, and then the application."""
    shop.stop_query()
    live_figures, live_operators = latency("shop", url=shop.ui), operators(shop.ui, shop.id)
    live_history = live_figures.history()
    live_rest = {path: rest(shop.ui, shop.id, path) for path in ["queries/shop", "queries/shop/batches"]}
    show(browser, shop.page)
    live = {
        table: rows(browser, table) for table in ["latency-nodes", "latency-watermarks", "latency-batches"]
    }
    headline = browser.find_element(By.CLASS_NAME, "latency-headline").text
    shop.end()
    stores = {"memory": {}, "disk": {"spark.history.store.path": str(tmp_path / "store")}}
    for store, conf in stores.items():
        folder = tmp_path / store
        folder.mkdir()
        with history_server(shop, folder, conf) as server:
            page = f"{server}/history/{shop.id}/latency"
            show(browser, f"{page}/")
            [query] = rows(browser, "latency-queries")
            assert (query["Query"], query["Status"]) == ("shop", "Finished")
            assert widths_that_fit(browser) == [*WIDTHS]
            browser.find_element(By.LINK_TEXT, "shop").click()
            assert browser.current_url == f"{page}/query/?id={shop.run}"
            assert widths_that_fit(browser) == [*WIDTHS]
            assert {table: rows(browser, table) for table in live} == live
            assert browser.find_element(By.CLASS_NAME, "latency-headline").text == headline
            assert {path: rest(server, shop.id, path) for path in live_rest} == live_rest
            ended = latency("shop", url=server, app=shop.id)
            assert (ended, ended.history()) == (live_figures, live_history)
            assert ended.queries[0].run == shop.run
            assert "left-out" in {note.code for note in ended.queries[0].notes}
            assert operators(server, shop.id) == live_operators


def test_who_may_not_see_the_application_in_the_history_server_sees_none_of_ours(
    shop: Shop, tmp_path: Path
) -> None:
    shop.end()
    application, pages = f"/api/v1/applications/{shop.id}", f"/history/{shop.id}"
    of_spark = [f"{application}/jobs", f"{pages}/jobs/"]
    ours = [
        f"{application}/latency{path}"
        for path in ("", "/queries/shop", "/queries/shop/batches", "/prometheus")
    ]
    ours += [f"{pages}/latency/{path}" for path in ("", "json/", f"query/?id={shop.run}")]
    with history_server(shop, tmp_path, WITH_USERS) as server:
        for user, expected in (("alice", HTTPStatus.OK), ("bob", HTTPStatus.FORBIDDEN)):
            answers = {path: status(f"{server}{path}", user) for path in [*of_spark, *ours]}
            assert answers == dict.fromkeys(answers, expected), user
