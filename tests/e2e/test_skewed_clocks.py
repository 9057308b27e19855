"""Two workers, each with an executor whose clock is off: what the driver says of each clock.

A library that is preloaded into the executors sets their clocks off. Beside the figures stand those of the
moving average that Apache Apex corrects clocks by, of the same exchanges.
"""

import json
import re
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from children import Child
from cluster import LINES, Spark, running_cluster, set_file
from submitted import CONF

from ports import free_port
from sampling import by_turns
from scraping import required

HERE = Path(__file__).parent
SKEWS = {"0": (3_500_000, 0), "1": (-2_000_000, 500)}
"""Of each executor: microseconds ahead, and ppm by which it gains."""
STEP = -1_200_000
"""Microseconds by which the clock of executor 0 is set, once."""
LOOKS = 100
EXCHANGES = 64
"""As many count for an estimate."""
AVERAGED = 100
"""As many count for Apex: RPC_LATENCY_COMPENSATION_SAMPLES."""
EXCHANGE = re.compile(r"executor (\d): ClockExchange\((-?\d+),(-?\d+),-?\d+,-?\d+,(-?\d+),-?\d+\)")
LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
logger.clocks.name = org.apache.spark.sql.latency.metrics.ExecutorClocks
logger.clocks.level = debug
"""
OFF = re.compile(
    r"The clock of executor (\d) is ([\d.]+) s (ahead of|behind) the driver's \(± (?:< )?([\d.]+) (ms|s)\)"
)
ROUNDED = 0.1
"""Seconds. Words have one decimal, and each has been true at some time of the run."""
READINGS = 3
"""Milliseconds: ages are whole ones, and a reading of the clock may be a millisecond old."""
SLACK = 100
"""Milliseconds, a twentieth of the smaller skew: bounds change while a batch runs. Or as much as a bound."""


class Driver:
    """A running driver whose executors' clocks are off since a moment of the clock that nobody sets."""

    def __init__(self, process: Child, url: str, since: int, records: Path, steps: Path) -> None:
        self.process, self.since = process, since
        self._url, self._records, self._steps = url, records, steps
        self._stepped = 0

    def get(self, path: str = "") -> Any:
        try:
            with urlopen(f"{self._url}/api/v1/latency{path}", timeout=30) as answer:  # noqa: S310  our own
                return json.load(answer)
        except (OSError, HTTPException, ValueError):
            return None  # it is starting up, which may take longer than a request waits

    def clocks(self) -> dict[str, Mapping[str, Any]]:
        return {clock["executor"]: clock for clock in (self.get() or {"clocks": []})["clocks"]}

    def bounds(self) -> list[float]:
        """Of each clock, in milliseconds."""
        return [clock["bound"] for clock in self.clocks().values()]

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

    def told_batches(self) -> list[Mapping[str, Any]]:
        """The same where there are some: then none stands for a request that was not answered in time."""
        return self.process.until(self.batches, "batches are told", within=30)

    def told(self) -> dict[int, Mapping[str, list[float]]]:
        """By batch: ingestion timestamps of its records, and how long they took past `twin`. In ms."""
        told = [json.loads(line) for line in self.process.lines() if line.startswith("{")]
        return {one["batch"]: one for one in told}

    def read(self) -> int:
        """How many records its batches have read."""
        return sum(batch["inputRows"] for batch in self.batches())

    def bounds_until_it_has_read(self, records: int) -> list[float]:
        """Of each clock again and again: on a busy machine they change while a batch runs."""
        bounds: list[float] = []

        def has_read() -> bool:
            bounds.extend(self.bounds())
            return self.read() == records

        self.process.until(has_read, "they are read", within=90)
        return bounds

    def truth(self, executor: str, now: int) -> float:
        """How far a clock is ahead, in milliseconds."""
        micros, ppm = SKEWS[executor]
        stepped = self._stepped if executor == "0" else 0
        return (micros + stepped) / 1e3 + (now - self.since) * ppm / 1e12

    def step(self) -> None:
        """Sets the clock of executor 0."""
        self._stepped = STEP
        with self._steps.open("r+b") as there:
            there.write(struct.pack("=q", STEP * 1000))

    def exchanges(self) -> dict[str, list[tuple[float, float]]]:
        """Of each executor: when each question came, by the clock that nobody sets, and how far ahead the
        executor seemed. In ms."""
        found: dict[str, list[tuple[float, float]]] = {executor: [] for executor in SKEWS}
        for executor, sent, received, at in EXCHANGE.findall(self.process.log.read_text()):
            found[executor].append((int(at) / 1e3, (int(sent) - int(received)) / 1e3))
        return found


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
    set_file(folder, "log4j2.properties", LOGGING)
    steps = folder / "steps"
    steps.write_bytes(bytes(8))
    port, since = free_port(), time.monotonic_ns()
    environment = {"LD_PRELOAD": str(library), "SKEW_FROM_NS": str(since), "SKEW_STEP_0": str(steps)}
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
    spark = Spark(request.param)
    with (
        running_cluster(spark, home) as cluster,
        cluster.running(
            folder, HERE / "local_cluster.py", *arguments, jars=[str(spark.jar)], conf=conf
        ) as app,
    ):
        yield Driver(app.driver, f"http://127.0.0.1:{port}", since, records, steps)


def test_the_true_offset_is_within_the_bound_every_time(driver: Driver, figures: list[str]) -> None:
    driver.process.until(lambda: driver.clocks().keys() == SKEWS.keys(), "all clocks are known", within=90)
    figures.append(f"clocks of executors at their start: {_looked(driver)}")


def test_each_skewed_clock_is_said_to_be_off_where_one_looks_and_once_in_the_log(driver: Driver) -> None:
    log = driver.process.log
    driver.process.until(
        lambda: {executor for executor, *_ in _said(log.read_text())} == SKEWS.keys(), "it warns", within=60
    )
    warned, since = _said(log.read_text()), driver.since
    assert sorted(executor for executor, *_ in warned) == sorted(SKEWS), "once for each"
    texts = _said("\n".join(clock["text"] for clock in driver.clocks().values()))
    answer = driver.process.until(lambda: driver.get("/queries/orders"), "its query has figures", within=90)
    [query] = answer["queries"]
    [note] = [note for note in query["notes"] if note["code"] == "clock-offset"]
    noted = _said(note["text"])
    assert [executor for executor, *_ in noted] == ["0"], "the one that is off the most"
    now = time.monotonic_ns()
    for executor, seconds, bound in (*warned, *texts, *noted):
        ends = sorted(driver.truth(executor, moment) / 1e3 for moment in (since, now))
        least, most = ends[0] - bound - ROUNDED, ends[1] + bound + ROUNDED
        assert least <= seconds <= most, (executor, seconds, bound, ends)
    assert (note["level"], note["numbers"]["executors"]) == ("warn", len(SKEWS))


def _said(text: str) -> list[tuple[str, float, float]]:
    """Each executor that a text says to be off, by how many seconds it is said to be ahead, and the bound."""
    return [
        (
            executor,
            float(seconds) * (1 if way == "ahead of" else -1),
            float(bound) / (1000 if unit == "ms" else 1),
        )
        for executor, seconds, way, bound, unit in OFF.findall(text)
    ]


def test_latencies_and_ingestion_timestamps_are_by_the_drivers_clock(
    driver: Driver, figures: list[str]
) -> None:
    driver.process.until(lambda: driver.read() >= 1, "the first record is read", within=90)
    # Executors have corrected their clocks by then.
    driver.process.until(lambda: driver.clocks().keys() == SKEWS.keys(), "all clocks are known", within=90)
    known = {batch["batch"] for batch in driver.told_batches()}
    executors, off = set(), [0.0]
    for number in range(1, 7):
        bounds = driver.bounds()
        made = driver.add(number, files=4)
        bounds += driver.bounds_until_it_has_read(1 + 4 * number)
        for batch in driver.told_batches():
            if batch["batch"] in known or not batch["inputRows"]:
                continue
            known.add(batch["batch"])
            nodes = {node["node"]: node for node in batch["nodes"]}
            twin = nodes.pop("twin")
            slack = max(SLACK, *bounds)
            for node in nodes.values():
                assert node["min"] >= batch["start"] - made - slack, (batch, made, slack)
                assert node["max"] <= batch["committed"] - made + slack, (batch, made, slack)
            told = driver.told()[batch["batch"]]
            stamps = told["stamps"]
            assert len(stamps) == batch["inputRows"]
            # Truly they are as old as they are on their way past the twin.
            bound = max(bounds) + READINGS
            assert -bound <= twin["min"] <= twin["max"] <= max(told["took"]) + bound, (twin, told, bound)
            off.append(max(-twin["min"], twin["max"] - max(told["took"])))
            assert all(batch["start"] - slack <= at <= batch["committed"] + slack for at in stamps), stamps
            operators = batch["operators"]
            stages, bound = operators["stages"], operators["bound"]
            # Of times in whole milliseconds, so that one may be missing.
            assert 0 <= operators["latency"] <= batch["committed"] - batch["start"] + bound + 1
            assert bound <= slack
            executors |= {*_executors(stages)}
    assert executors == SKEWS.keys(), "both executors were at work"
    figures.append(f"ages beside an unskewed twin's: off by {max(off):.1f} ms at the most")


def _executors(stages: list[Mapping[str, Any]]) -> Iterator[str]:
    return (node["executor"] for stage in stages for node in stage["nodes"])


def test_the_bound_holds_when_many_exchanges_are_known(driver: Driver, figures: list[str]) -> None:
    def known() -> bool:
        return all(len(exchanges) >= EXCHANGES for exchanges in driver.exchanges().values())

    driver.process.until(known, "they are compared", within=90)
    figures.append(f"clocks of executors after {EXCHANGES} exchanges: {_looked(driver)}")


def test_the_bound_holds_again_when_a_clock_has_been_set(driver: Driver, figures: list[str]) -> None:
    driver.step()
    # Between the step and the next exchange nobody knows of it.
    driver.process.until(
        lambda: sum(look.is_right for look in _look(driver)) == len(SKEWS), "it is seen", within=60
    )
    figures.append(f"clocks of executors after a step of {STEP / 1e6} s: {_looked(driver)}")


@dataclass(frozen=True)
class Look:
    """What was said of a clock between two moments of another, and how far it truly was ahead. In ms."""

    executor: str
    before: float
    after: float
    low: float
    high: float
    offset: float
    bound: float

    def error(self, offset: float) -> float:
        return max(self.low - offset, offset - self.high, 0)

    @property
    def is_right(self) -> bool:
        return self.error(self.offset) <= self.bound


def _looked(driver: Driver) -> str:
    """Holds what is said of each clock to the truth, again and again; tells how far off it was, and Apex's
    average."""
    looks = [look for _ in range(LOOKS) for look in _look(driver)]
    for look in looks:
        assert look.is_right, look
    exchanges = driver.exchanges()
    average: list[float] = []
    for look in looks:
        seemed = [ahead for at, ahead in exchanges[look.executor] if at <= look.before][-AVERAGED:]
        if seemed:
            average.append(look.error(sum(seemed) / len(seemed)))
    ours, apex = _p99([look.error(look.offset) for look in looks]), _p99(average)
    widest = _p99([look.bound for look in looks])
    return (
        f"p99 of {len(looks)}: error {ours:.3f} ms, bound {widest:.3f} ms; "
        f"Apex's moving average {apex:.3f} ms, {apex / ours if ours else float('inf'):.0f} times ours"
    )


def _look(driver: Driver) -> list[Look]:
    before, clocks, after = time.monotonic_ns(), driver.clocks(), time.monotonic_ns()
    return [
        Look(
            executor,
            before / 1e6,
            after / 1e6,
            driver.truth(executor, before),
            driver.truth(executor, after),
            clock["offset"],
            clock["bound"],
        )
        for executor, clock in clocks.items()
    ]


def _p99(values: list[float]) -> float:
    return sorted(values)[len(values) * 99 // 100]
