"""Kafka topics that fall silent: with a system-time watermark every window is given out, and soon.

How soon is printed. What is asserted of it goes by the query's own clock, so that a busy machine does not
matter: the watermark of each batch is behind the batch's start by the lag, and no batch keeps back a window
that its watermark has passed.
"""

import pytest
from broker import Broker
from cluster import LINES, Spark
from silences import Rows, Told, ends_of, run
from silent import LAG, SITUATIONS

from sampling import by_turns

INTERVAL = 1
"""Seconds between two moves of the watermark, as the setting has it."""

STALL = 20
"""Seconds by which a watermark may be older: a busy machine stalls. One that stood still would be further
behind."""


@pytest.fixture(scope="module", params=by_turns(LINES))
def told(
    request: pytest.FixtureRequest,
    broker: Broker,
    figures: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Told:
    spark = Spark(request.param)
    found = run(spark, broker, tmp_path_factory.mktemp("silent"), SITUATIONS)
    figures += [f"Spark {spark.line}, {found.figure(name)}" for name in SITUATIONS]
    return found


def ordered(rows: Rows) -> Rows:
    return sorted(rows, key=str)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_window_is_given_out_once_and_whole(told: Told, situation: str) -> None:
    assert told.whole[situation]
    assert ordered(told.given(situation)) == ordered(told.whole[situation])


@pytest.mark.parametrize("situation", [name for name in SITUATIONS if name != "restarted"])
def test_by_event_time_the_last_window_never_is(told: Told, situation: str) -> None:
    whole, given = (ends_of(situation, rows) for rows in (told.whole[situation], told.event[situation]))
    assert given < whole
    assert max(whole) not in given


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_batch_keeps_back_what_its_watermark_has_passed(told: Told, situation: str) -> None:
    marks = {number: batch.watermark for number, batch in told.progress[situation].items()}
    for batch, ended in told.closed(situation):
        assert marks.get(batch - 1, 0) < ended <= marks[batch]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_watermark_is_behind_the_start_of_its_batch_by_the_lag(told: Told, situation: str) -> None:
    batches = told.progress[situation]
    for number, batch in batches.items():
        assert batch.watermark <= batch.start - LAG * 1000
        # A restarted query runs its last batch once more by the watermark that the batch had then.
        before = batches.get(number - 1) if situation == "restarted" else None
        planned = before.start + before.took if before else batch.start
        assert batch.watermark >= planned - (LAG + INTERVAL + STALL) * 1000
