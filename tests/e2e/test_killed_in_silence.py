"""Drivers that are killed while no record comes: each window is given out once, as if nothing had happened.

One checkpoint goes through all of it. Each life of the query reads what there is, and is killed at some
moment of the silence that follows. A seed says when, whether records came, and whether they came while no
driver ran. The first life has no system-time watermark; others go on with it, or go back to withWatermark.

Beside it another driver reads the same files and is left alone. What both give out has to be the same, and
what the test reckons from the records that it wrote.
"""

import time
from dataclasses import dataclass
from random import Random

import pytest
from children import Child
from closing import LAG, WINDOW
from closing_drivers import Inbox, Place, Windows, has_read, starting
from cluster import LINES, Spark

from sampling import IS_FULL, SEED, by_turns

SEEDS = range(30) if IS_FULL else [(SEED * 3 + number) % 30 for number in range(3)]
BY_EVENT_TIME = (0, 2)
"""Which lives of four go by event time, counted from the first: an upgrade, a way back, an upgrade."""


@dataclass
class Run:
    """What came of it."""

    expected: Windows
    disturbed: Windows
    undisturbed: Windows
    in_mid_batch: int


def live(seed: int, spark: Spark, kind: str, inbox: Inbox, place: Place) -> None:
    """One life of the query, up to its death in a silence."""
    random = Random(seed)  # noqa: S311
    comes = random.choice(["before", "after", "both", "none"])
    known, before = inbox.written, place.batches("checkpoint/commits")
    if comes in ("before", "both") or not before:
        inbox.add(random.randint(1, 9))
    with starting(spark, kind, inbox, place) as driver:
        has_read(driver, inbox.written - known)
        if comes in ("after", "both"):
            inbox.add(random.randint(1, 9))
            has_read(driver, inbox.written - known)
        log = random.choice(["checkpoint/offsets", "out/_spark_metadata", None])
        if log is None or kind == "event-time":  # by event time no batch comes
            time.sleep(random.uniform(0, WINDOW + LAG + 1))
        else:
            await_batch(driver, place, log, after=random.randint(1, WINDOW + LAG))


def await_batch(driver: Child, place: Place, log: str, after: int) -> None:
    """Waits until a log knows of so many batches more: of one that has begun, or has been written."""
    known = max(place.batches(log), default=-1)

    def knows() -> bool:
        return max(place.batches(log), default=-1) >= known + after

    driver.until(knows, f"{log} knows of {after} batches more", within=60, every=0.02)


@pytest.fixture(scope="module", params=by_turns(LINES))
def run(request: pytest.FixtureRequest, figures: list[str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    spark = Spark(request.param)
    inbox = Inbox(tmp_path_factory.mktemp("inbox"))
    disturbed, calm = (Place(tmp_path_factory.mktemp(name)) for name in ("disturbed", "undisturbed"))
    in_mid_batch = 0
    with starting(spark, "system-time", inbox, calm) as undisturbed:
        has_read(undisturbed, 0)
        for life, seed in enumerate(SEEDS):
            kind = "event-time" if life % 4 in BY_EVENT_TIME else "system-time"
            live(seed, spark, kind, inbox, disturbed)
            in_mid_batch += disturbed.has_begun_a_batch()
        with starting(spark, "system-time", inbox, disturbed) as last:
            for driver, place in ((last, disturbed), (undisturbed, calm)):
                enough = len(inbox.windows())
                driver.until(lambda: len(place.windows()) >= enough, "all is given out", within=120)  # noqa: B023
    found = Run(inbox.windows(), disturbed.windows(), calm.windows(), in_mid_batch)
    figures.append(
        f"Spark {spark.line}, killed {len(SEEDS)} times in silence, {in_mid_batch} of them in mid-batch: "
        f"{len(found.disturbed)} of {len(found.expected)} windows given out"
    )
    return found


def test_each_window_is_given_out_once_and_whole(run: Run) -> None:
    assert run.disturbed == run.expected


def test_all_is_as_in_a_run_that_nothing_disturbed(run: Run) -> None:
    assert run.disturbed == run.undisturbed
