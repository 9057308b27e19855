"""Two Kafka topics with ordinary watermarks: one falls silent, and speaks again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from broker import Broker, resolved
from children import Child
from cluster import LINES, Spark, settings
from idle import DELAY, WITH, WITHOUT

from sampling import by_turns

SCRIPT = Path(__file__).parent / "idle.py"
CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sparklatency.auto": "source,stateful",
}
RATE = 20
TOGETHER = (DELAY + 3) * RATE
"""Records of each topic at first: some windows close."""

TALKED = 100_000
"""More than anybody waits for."""

MORE = 5000
"""Windows that close while a source is silent, in milliseconds beyond those that its own records close."""


@dataclass
class Said:
    """What the application told, when the silent source spoke again and at the end."""

    in_silence: list[dict[str, Any]]
    in_the_end: list[dict[str, Any]]

    @staticmethod
    def ends(lines: list[dict[str, Any]], query: str) -> list[int]:
        return [end for line in lines if line.get("query") == query for end, _ in line.get("rows", [])]


@contextmanager
def sending(broker: Broker, folder: Path, topic: str, count: int) -> Iterator[Child]:
    folder.mkdir()
    with broker.program(folder, "Producer", topic, str(count), str(RATE)) as producer:
        yield producer


def said_by(driver: Child) -> list[dict[str, Any]]:
    return [json.loads(line) for line in driver.lines() if line.startswith("{")]


@pytest.fixture(scope="module", params=by_turns(LINES))
def said(request: pytest.FixtureRequest, broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Said:
    spark = Spark(request.param)
    folder = tmp_path_factory.mktemp("idle")
    talks, pauses = f"{folder.name}-talks", f"{folder.name}-pauses"
    broker.create_topics(folder, dict.fromkeys((talks, pauses), "LogAppendTime"))
    jars = ",".join([str(spark.jar), *resolved("connector")])
    submit = ["--master", "local[2]", "--jars", jars, "--driver-memory", "1g", *settings(CONF)]
    arguments = [str(folder), broker.address, talks, pauses]
    with spark.start("driver", folder, "spark-submit", *submit, SCRIPT, *arguments) as driver:
        driver.until(lambda: "started" in driver.lines(), "it has begun", within=120)

        def last(query: str) -> int:
            return max(Said.ends(said_by(driver), query), default=0)

        def idle() -> list[str]:
            lines = [line for line in said_by(driver) if line.get("query") == WITH and "idle" in line]
            return lines[-1]["idle"] if lines else []

        with sending(broker, folder / "talks", talks, TALKED):
            with sending(broker, folder / "together", pauses, TOGETHER) as one:
                one.finish(within=60)
            driver.until(lambda: last(WITHOUT), "windows close for both", within=60)
            driver.until(lambda: last(WITH) >= last(WITHOUT) + MORE, "windows close in silence", within=90)
            driver.until(
                lambda: f"kafka[{pauses}]" in "".join(idle()), "a source is shown to be idle", within=60
            )
            in_silence, before = said_by(driver), last(WITHOUT)
            with sending(broker, folder / "again", pauses, TOGETHER) as again:
                again.finish(within=60)
            # It may have fallen silent once more before anybody looks.
            again_since = len(in_silence)

            def took_part() -> bool:
                return {"query": WITH, "idle": []} in said_by(driver)[again_since:]

            driver.until(took_part, "it takes part again", within=60)
            driver.until(lambda: last(WITHOUT) > before, "so does it where it was waited for", within=60)
        (folder / "sent").touch()
        driver.finish(within=120)
        return Said(in_silence, said_by(driver))


def test_the_others_go_on_where_there_is_an_idle_timeout_and_wait_where_there_is_none(said: Said) -> None:
    with_, without = (Said.ends(said.in_silence, name) for name in (WITH, WITHOUT))
    assert max(with_) >= max(without) + MORE


def test_only_the_silent_source_is_shown_to_be_idle(said: Said) -> None:
    idle = [line["idle"] for line in said.in_the_end if line.get("query") == WITH and "idle" in line]
    assert {len(sources) for sources in idle} == {0, 1}
    assert {source for sources in idle for source in sources if "pauses" not in source} == set()
    assert not any("idle" in line for line in said.in_the_end if line.get("query") == WITHOUT)


@pytest.mark.parametrize("query", [WITH, WITHOUT])
def test_each_window_is_given_out_once_and_whole(said: Said, query: str) -> None:
    given = [
        tuple(row) for line in said.in_the_end if line.get("query") == query for row in line.get("rows", [])
    ]
    whole = [tuple(row) for line in said.in_the_end for row in line.get("whole", [])]
    last = max(end for end, _ in given)
    assert sorted(given) == sorted(row for row in whole if row[0] <= last)
