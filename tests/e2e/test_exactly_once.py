"""Whatever goes wrong in a task, an executor or the driver, the driver counts each record once.

The oracle is the input: text files whose lines and timestamps the test wrote itself. The number of records
must be the number of lines. Minimum, average and maximum must lie where they can lie if each line was taken
once between the start and the end of the run: a line more, or one twice, would move the average by hours,
for the ages grow with the square of the line. That the fault did happen is read in Spark's event log.

Spark's own ``observe`` stands at the same points. What it says is shown, and not judged.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster import Application, Cluster

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a task finds its executor in /proc"),
    pytest.mark.sampled(of="run", by="cluster", alone=True),
]

SCRIPT = Path(__file__).parent / "faults.py"
LENGTHS = [300, 310, 320, 330]
"""Lines of each file. Not too unequal, lest Spark put two small files into one partition."""

CASES = [
    "failure_above",
    "failure_below",
    "lost_shuffle_files",
    "speculation",
    "repeated_actions",
    "killed_executor",
]
PLUGIN = {
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.sparklatency.publish.after": "500ms",
}
CONF = {
    "spark.ui.enabled": "false",
    "spark.sparklatency.sample.window": "10m",
    "spark.sql.files.minPartitionNum": str(len(LENGTHS)),
    "spark.sql.shuffle.partitions": "2",
    "spark.buffer.size": "64",  # lest Python keep back the rows that have passed until a task ends
    "spark.speculation": "true",
    "spark.speculation.minTaskRuntime": "10s",  # hardly of a task that does not wait for it
    "spark.speculation.quantile": "0.5",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}


@dataclass(frozen=True)
class Figures:
    """What the driver said of a node, and between which instants its records passed."""

    started: int
    ended: int
    records: int
    min: int
    avg: float
    max: int
    observed: dict[str, Any]

    @staticmethod
    def of(told: dict[str, Any]) -> "Figures":
        return Figures(**{key: told[key] for key in told if key not in ("case", "group")})

    def __str__(self) -> str:
        ours = f"driver {self.records} records, {self.min} to {self.max} ms, avg {self.avg:.1f}"
        return f"{ours}; observe {self.observed['records']}"


@dataclass(frozen=True)
class Input:
    """Files of records, and when each record happened, in milliseconds."""

    folder: Path
    files: list[list[int]]

    def assert_says_once(self, told: Figures, files: Iterable[int]) -> None:
        """Asserts that the figures are those of each record of the files taken once."""
        times = [at for file in files for at in self.files[file]]
        assert told.records == len(times)
        assert told.started - max(times) <= told.min <= told.ended - max(times)
        assert told.started - min(times) <= told.max <= told.ended - min(times)
        mean = sum(times) / len(times)
        assert told.started - mean <= told.avg <= told.ended - mean


@dataclass(frozen=True)
class Run:
    """What an application said of its cases, and Spark's log of what happened to its tasks."""

    input: Input
    figures: dict[str, Figures]
    groups: dict[str, str]
    """The group of each case's jobs."""
    events: list[dict[str, Any]]

    def ends(self, case: str) -> list[dict[str, Any]]:
        """How each attempt at a task of the case ended."""
        stages = {
            stage
            for start in self._events("SparkListenerJobStart")
            if start["Properties"].get("spark.jobGroup.id") == self.groups[case]
            for stage in start["Stage IDs"]
        }
        return [end for end in self._events("SparkListenerTaskEnd") if end["Stage ID"] in stages]

    def reasons(self, case: str) -> set[str]:
        return {end["Task End Reason"]["Reason"] for end in self.ends(case)}

    def _events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["Event"] == kind]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Input:
    """Files in the order in which a stream reads them; line n is n² minutes old."""
    folder = tmp_path_factory.mktemp("records")
    now, line, files = time.time_ns() // 1_000_000, 0, []
    for file, length in enumerate(LENGTHS):
        times = [now - number**2 * 60_000 for number in range(line + 1, line + length + 1)]
        path = folder / f"{file}.txt"
        path.write_text("".join(f"{file},{row},{at}000\n" for row, at in enumerate(times)))
        os.utime(path, (now // 1000 - 100 + file,) * 2)
        files.append(times)
        line += length
    return Input(folder, files)


@pytest.fixture(scope="module", params=[PLUGIN, {}], ids=["plugin", "jar alone"])
def run(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    records: Input,
    figures: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    folder = tmp_path_factory.mktemp("faults")
    with _running(cluster, folder, records, *CASES, conf=request.param) as app:
        told = [json.loads(line) for line in app.driver.finish(within=300) if line.startswith("{")]
    log = (folder / "events" / app.id).read_text()
    groups = {case["case"]: case["group"] for case in told}
    said = {case["case"]: Figures.of(case) for case in told}
    run = Run(records, said, groups, [json.loads(line) for line in log.splitlines()])
    plugin = "with plugin" if request.param else "jar alone"
    for case in groups:
        ends = ", ".join(sorted(run.reasons(case)))
        figures.append(f"Spark {cluster.spark.line}, {plugin}, {case}: {said[case]} (tasks: {ends})")
    return run


@pytest.mark.parametrize("case", CASES)
def test_each_record_counts_once(run: Run, case: str) -> None:
    run.input.assert_says_once(run.figures[case], range(len(LENGTHS)))


@pytest.mark.parametrize("case", ["failure_above", "failure_below"])
def test_a_task_had_failed(run: Run, case: str) -> None:
    """On a slow machine Spark may speculate here too, and then kills the slower attempt."""
    assert run.reasons(case) - {"TaskKilled"} == {"ExceptionFailure", "Success"}


def test_the_reduce_stage_found_no_shuffle_files_and_was_run_again(run: Run) -> None:
    assert "FetchFailed" in run.reasons("lost_shuffle_files")
    assert max(end["Stage Attempt ID"] for end in run.ends("lost_shuffle_files")) >= 1


def test_a_speculative_attempt_came_as_far_as_the_first(run: Run) -> None:
    """Both went on from there at once: Spark takes the one that it hears of first.

    On a slow machine Spark may speculate on another task, too."""
    tasks = [end["Task Info"] for end in run.ends("speculation")]
    speculative = {task["Index"] for task in tasks if task["Speculative"]}
    attempts = [sorted(task["Attempt"] for task in tasks if task["Index"] == one) for one in speculative]
    assert [0, 1] in attempts


def test_two_actions_read_all_partitions_and_one_read_the_first(run: Run) -> None:
    tasks = {(end["Stage ID"], end["Task Info"]["Index"]) for end in run.ends("repeated_actions")}
    assert sorted(Counter(stage for stage, _ in tasks).values()) == [1, 1, len(LENGTHS)]


def test_an_executor_had_been_lost(run: Run) -> None:
    assert "ExecutorLostFailure" in run.reasons("killed_executor")


@pytest.mark.one_line
def test_a_batch_that_a_killed_driver_left_counts_in_the_run_that_commits_it(
    cluster: Cluster, records: Input, figures: list[str], tmp_path: Path
) -> None:
    """Without the plugin, that is: with it the first run would show what the task had passed so far."""
    runs = []
    for ending in ("killed", "finished"):
        with _running(
            cluster, tmp_path, records, "killed_driver", conf={"spark.speculation": "false"}
        ) as app:
            if ending == "killed":
                app.driver.until(lambda: _said(app), "it is held in its third batch", within=60)
                app.driver.kill()
                assert _committed(tmp_path) == {0, 1}
            else:
                app.driver.finish(within=60)
        [told] = _said(app)
        runs.append(told)
        figures.append(f"Spark {cluster.spark.line}, jar alone, driver {ending}: {told}")
    assert _committed(tmp_path) == {0, 1, 2, 3}
    records.assert_says_once(runs[0], [0, 1])
    records.assert_says_once(runs[1], [2, 3])
    assert sum(told.records for told in runs) == sum(LENGTHS)


def _running(
    cluster: Cluster, folder: Path, records: Input, *cases: str, conf: dict[str, str]
) -> AbstractContextManager[Application]:
    events = folder / "events"
    events.mkdir(exist_ok=True)
    arguments = (str(records.folder), str(folder), str(cluster.folder), *cases)
    conf = {**CONF, "spark.eventLog.dir": str(events), **conf}
    return cluster.running(folder, SCRIPT, *arguments, jars=[str(cluster.spark.jar)], conf=conf)


def _said(app: Application) -> list[Figures]:
    return [Figures.of(json.loads(line)) for line in app.driver.lines() if line.startswith("{")]


def _committed(folder: Path) -> set[int]:
    commits = (folder / "killed_driver" / "commits").iterdir()
    return {int(commit.name) for commit in commits if commit.name.isdigit()}
