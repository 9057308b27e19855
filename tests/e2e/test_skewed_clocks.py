"""Executors whose clocks are off, by a library preloaded into them: what the driver says of each clock."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from broker import free_port
from children import Child
from cluster import LINES, cluster_in_driver
from submitted import CONF

from sampling import by_turns
from scraping import required

HERE = Path(__file__).parent
SKEWS = {"0": (3_500_000, 0), "1": (-2_000_000, 500)}
"""Of each executor: microseconds ahead, and ppm by which it gains."""
LOOKS = 100
EXCHANGES = 64
"""As many count for an estimate. There are ten a second."""
OFF = re.compile(r"The clock of executor (\d) is ([\d.]+) s (ahead of|behind) the driver's")
ROUNDED = 0.1
"""Seconds. Words have one decimal, and each has been true at some time of the run."""
SLACK = 100
"""Milliseconds, a twentieth of the smaller skew: bounds change while a batch runs."""


class Driver:
    """A running driver whose executors' clocks are off since a moment of the clock that nobody sets."""

    def __init__(self, process: Child, url: str, since: int, records: Path) -> None:
        self.process, self.since, self._url, self._records = process, since, url, records

    def get(self, path: str = "") -> Any:
        try:
            with urlopen(f"{self._url}/api/v1/latency{path}", timeout=30) as answer:  # noqa: S310  our own
                return json.load(answer)
        except (URLError, ConnectionError, ValueError):
            return None  # it is starting up

    def clocks(self) -> dict[str, Mapping[str, Any]]:
        return {clock["executor"]: clock for clock in (self.get() or {"clocks": []})["clocks"]}

    def add(self, number: int, files: int) -> int:
        """Adds files of a record each, all of this moment, and returns it: milliseconds by the true clock."""
        now = time.time_ns() // 1_000_000
        for file in range(files):
            made = self._records / f".{number}-{file}"
            made.write_text(f"{number}-{file},{now}\n")
            made.rename(self._records / f"{number}-{file}.csv")
        return now

    def batches(self) -> list[Mapping[str, Any]]:
        batches: list[Mapping[str, Any]] = (self.get("/queries/orders/batches") or {"batches": []})["batches"]
        return batches

    def stamps(self) -> dict[int, list[float]]:
        """By batch, the ingestion timestamps of its records: milliseconds since the epoch."""
        told = [json.loads(line) for line in self.process.lines() if line.startswith("{")]
        return {one["batch"]: one["stamps"] for one in told}

    def read(self) -> int:
        """How many records its batches have read."""
        return sum(batch["inputRows"] for batch in self.batches())

    def truth(self, executor: str, now: int) -> float:
        """How far a clock is ahead, in milliseconds."""
        micros, ppm = SKEWS[executor]
        return micros / 1e3 + (now - self.since) * ppm / 1e12


@pytest.fixture(scope="module", params=by_turns(LINES))
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder, home = tmp_path_factory.mktemp("skewed"), tmp_path_factory.mktemp("home")
    library = folder / "skewed_clock.so"
    source = HERE / "skewed_clock.c"
    compiler = required("cc", "gcc")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    records = folder / "records"
    records.mkdir()
    (records / "0.csv").write_text(f"key,{time.time_ns() // 1_000_000}\n")
    cluster, port, since = cluster_in_driver(request.param, home), free_port(), time.monotonic_ns()
    environment = {"LD_PRELOAD": str(library), "SKEW_FROM_NS": str(since)}
    for executor, (micros, ppm) in SKEWS.items():
        environment |= {f"SKEW_US_{executor}": str(micros), f"SKEW_PPM_{executor}": str(ppm)}
    conf = {
        **CONF,
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.sparklatency.clock.interval": "100ms",
        **{f"spark.executorEnv.{name}": value for name, value in environment.items()},
    }
    arguments = (str(records), str(folder / "checkpoint"))
    jars = [str(cluster.spark.jar)]
    with cluster.running(folder, HERE / "local_cluster.py", *arguments, jars=jars, conf=conf) as app:
        yield Driver(app.driver, f"http://127.0.0.1:{port}", since, records)


def test_the_true_offset_is_within_the_bound_every_time(driver: Driver, figures: list[str]) -> None:
    driver.process.until(lambda: driver.clocks().keys() == SKEWS.keys(), "all clocks are known", within=90)
    figures.append(f"clocks of executors at their start: {_looked(driver)}")


def test_each_is_said_to_be_off_where_one_looks_and_once_in_the_log(driver: Driver) -> None:
    log = driver.process.log
    driver.process.until(
        lambda: {executor for executor, _ in _said(log.read_text())} == SKEWS.keys(), "it warns", within=60
    )
    warned, since = _said(log.read_text()), driver.since
    assert sorted(executor for executor, _ in warned) == sorted(SKEWS), "once for each"
    texts = _said("\n".join(clock["text"] for clock in driver.clocks().values()))
    driver.process.until(lambda: driver.get("/queries/orders"), "its query has figures", within=90)
    [query] = driver.get("/queries/orders")["queries"]
    [note] = [note for note in query["notes"] if note["code"] == "clock-offset"]
    noted = _said(note["text"])
    assert [executor for executor, _ in noted] == ["0"], "the one that is off the most"
    now = time.monotonic_ns()
    for executor, seconds in (*warned, *texts, *noted):
        ends = sorted(driver.truth(executor, moment) / 1e3 for moment in (since, now))
        assert ends[0] - ROUNDED <= seconds <= ends[1] + ROUNDED, (executor, seconds, ends)
    assert (note["level"], note["numbers"]["executors"]) == ("warn", len(SKEWS))


def _said(text: str) -> list[tuple[str, float]]:
    """Each executor that a text says to be off, and by how many seconds it is said to be ahead."""
    return [
        (executor, float(seconds) * (1 if way == "ahead of" else -1))
        for executor, seconds, way in OFF.findall(text)
    ]


def test_latencies_and_ingestion_timestamps_are_by_the_drivers_clock(driver: Driver) -> None:
    driver.process.until(lambda: driver.read() >= 1, "the first record is read", within=90)
    # Executors have corrected their clocks by then.
    driver.process.until(lambda: driver.clocks().keys() == SKEWS.keys(), "all clocks are known", within=90)
    known = {batch["batch"] for batch in driver.batches()}
    executors = set()
    for number in range(1, 7):
        before = driver.read()
        made = driver.add(number, files=4)
        driver.process.until(lambda: driver.read() == before + 4, "they are read", within=90)  # noqa: B023  runs now
        for batch in driver.batches():
            if batch["batch"] in known or not batch["inputRows"]:
                continue
            known.add(batch["batch"])
            for node in batch["nodes"]:
                assert node["min"] >= batch["start"] - made - SLACK, (batch, made)
                assert node["max"] <= batch["committed"] - made + SLACK, (batch, made)
            stamps = driver.stamps()[batch["batch"]]
            assert len(stamps) == batch["inputRows"]
            assert all(batch["start"] - SLACK <= at <= batch["committed"] + SLACK for at in stamps), stamps
            operators = batch["operators"]
            stages, bound = operators["stages"], operators["bound"]
            # Of times in whole milliseconds, so that one may be missing.
            assert 0 <= operators["latency"] <= batch["committed"] - batch["start"] + bound + 1
            assert bound <= SLACK
            executors |= {*_executors(stages)}
    assert executors == SKEWS.keys(), "both executors were at work"


def _executors(stages: list[Mapping[str, Any]]) -> Iterator[str]:
    return (node["executor"] for stage in stages for node in stage["nodes"])


def test_the_bound_holds_when_many_exchanges_are_known(driver: Driver, figures: list[str]) -> None:
    known = time.monotonic()
    driver.process.until(lambda: driver.clocks().keys() == SKEWS.keys(), "all clocks are known", within=90)
    driver.process.until(lambda: time.monotonic() - known > EXCHANGES / 10, "they are compared", within=90)
    figures.append(f"clocks of executors after {EXCHANGES} exchanges: {_looked(driver)}")


def _looked(driver: Driver) -> str:
    """Holds what is said of each clock to the truth, again and again, and tells how far off it was."""
    errors: list[float] = []
    bounds: list[float] = []
    for _ in range(LOOKS):
        before, clocks, after = time.monotonic_ns(), driver.clocks(), time.monotonic_ns()
        for executor, clock in clocks.items():
            low, high = driver.truth(executor, before), driver.truth(executor, after)
            error = max(low - clock["offset"], clock["offset"] - high, 0)
            assert error <= clock["bound"], f"executor {executor}: {clock}, truly {low} to {high}"
            errors.append(error)
            bounds.append(clock["bound"])
    worst, widest = sorted(errors)[len(errors) * 99 // 100], sorted(bounds)[len(bounds) * 99 // 100]
    return f"p99 of {len(errors)}: error {worst:.3f} ms, bound {widest:.3f} ms"
