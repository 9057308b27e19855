"""What every test of the suite stands on: one broker, a cluster for each Spark line, and room for figures.

Where pytest has several workers, each has a broker and clusters of its own.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker import Broker, running_broker
from browser import require_browser, running_browser
from cluster import LINES, Cluster, Spark, running_cluster
from selenium.webdriver import Chrome
from slowest import slowest

_FIGURES = pytest.StashKey[list[str]]()

_FIRST = [
    "test_older_lines", "test_exactly_once", "test_kafka_to_jmx", "test_causes", "test_crowded_pages",
    "test_automatic_nodes", "test_tutorial", "test_stuck_queries", "test_many_queries",
    "test_killed_in_silence", "test_silent_sources", "test_skewed_clocks", "test_long_batches",
    "test_latency_tab", "test_real_time",
]  # fmt: skip
"""Modules that take longer than a minute. What begins last is to be short: else one worker goes on for two
minutes when all others have ended."""


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="session", params=LINES)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(Spark(request.param), tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    require_browser()
    with running_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> list[str]:
    """Lines to be shown at the end of the run, whatever its outcome."""
    return pytestconfig.stash.setdefault(_FIGURES, [])


def pytest_configure() -> None:
    # A shell that starts the tests in the background has them ignore it, and so would all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several workers take modules in turn. Alone, pytest has those together that want one cluster."""
    if hasattr(config, "workerinput"):
        places = {name: place for place, name in enumerate(_FIRST)}
        items.sort(key=lambda item: places.get(item.path.stem, len(places)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told["figures"] = session.config.stash.get(_FIGURES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes over the figures of a worker that has ended."""
    told = getattr(node, "workeroutput", {})  # a worker that was killed has none
    node.config.stash.setdefault(_FIGURES, []).extend(told.get("figures", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_FIGURES, []):
        terminalreporter.section("driver against observer")
        for line in lines:
            terminalreporter.line(line)
    reports = [report for all_of in terminalreporter.stats.values() for report in all_of]
    tests = [report for report in reports if isinstance(report, pytest.TestReport)]
    own = [(f"e2e {Path(test.location[0]).stem}", test.duration) for test in tests]
    terminalreporter.section("slowest suites")
    for name, seconds in slowest(own):
        terminalreporter.line(f"{seconds:6.0f} s  {name}")
