"""Pipelines whose cause of latency is known, submitted for real: the query names it, also after a change."""

import json
from itertools import dropwhile, groupby
from pathlib import Path
from typing import Any

import endless
import pytest
from broker import Broker, resolved
from causes import BATCHES, PIPELINES
from cluster import LINES, Spark, settings

from sampling import by_turns

Said = dict[str, Any]

WITHIN = 3
"""In how many batches after a change its cause is to be named."""

WITHOUT_PARTS = {"silent"}
"""No record ever comes to the end, so none has an age there."""

CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
}


@pytest.fixture(scope="module", params=by_turns(LINES))
def printed(
    request: pytest.FixtureRequest,
    broker: Broker,
    figures: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Said]:
    spark = Spark(request.param)
    folder = tmp_path_factory.mktemp("causes")
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, dict.fromkeys([folder.name, records, results], "CreateTime"))
    jars = ",".join([str(spark.jar), *resolved("connector")])
    submit = ["--master", "local[2]", "--jars", jars, "--driver-memory", "1g", *settings(CONF)]
    script = Path(__file__).parent / "causes.py"
    with spark.start(
        "driver", folder, "spark-submit", *submit, script, str(folder), broker.address, folder.name
    ) as driver:
        driver.until(lambda: endless.BEGINS in driver.lines(), "those with batches have run", within=1200)
        with broker.program(folder, "Producer", records, str(endless.RECORDS), str(endless.RATE)):
            driver.until(lambda: "done" in driver.lines(), "all pipelines have run", within=120)
        lines = [json.loads(line) for line in driver.lines() if line.startswith("{")]
    by_batch = [one for one in lines if one["pipeline"] != endless.NAME]
    for (name, phase), batches in groupby(by_batch, lambda one: (one["pipeline"], one["phase"])):
        named = [one["named"] == one["expected"] for one in dropwhile(_is_unknown_yet, batches)]
        figures.append(
            f"{spark.line} {name}, phase {phase}: named from batch {_settled(named)} of {len(named)} on"
        )
    by_look = [one["named"] == endless.EXPECTED for one in lines if one["pipeline"] == endless.NAME]
    figures.append(f"{spark.line} {endless.NAME}: named from look {_settled(by_look)} of {len(by_look)} on")
    return lines


@pytest.fixture(scope="module")
def said(printed: list[Said]) -> list[Said]:
    """Of each batch."""
    return [one for one in printed if one["pipeline"] != endless.NAME]


def _is_unknown_yet(said: Said) -> bool:
    """Before the first record has come to the end: of a window that is when it closes. From
    then on something is known of each batch, also when the cause moves."""
    return bool(said["phase"] == 0 and said["named"][0] == "unknown" != said["expected"][0])


def _settled(named: list[bool]) -> int:
    """From which batch on the cause is named, counted from 1; one more than there are if it is not."""
    wrong = [place for place, right in enumerate(named, start=1) if not right]
    return wrong[-1] + 1 if wrong else 1


@pytest.mark.parametrize(
    ("name", "phase"), [(name, i) for name, of in PIPELINES.items() for i in range(len(of.phases))]
)
def test_the_cause_is_named_soon_after_it_has_moved(said: list[Said], name: str, phase: int) -> None:
    batches = [one for one in said if (one["pipeline"], one["phase"]) == (name, phase)]
    words = [(one["named"], one["text"]) for one in batches]
    expected = PIPELINES[name].phases[phase]
    assert [one["named"] for one in batches[-2:]] == [[expected.cause, expected.node]] * 2, words
    named = [one["named"] == one["expected"] for one in dropwhile(_is_unknown_yet, batches)]
    assert _settled(named) <= WITHIN < BATCHES, words


def test_parts_add_up_to_the_age_at_the_commit(said: list[Said]) -> None:
    told = [one for one in said if one["age"] is not None]
    assert {one["pipeline"] for one in told} == PIPELINES.keys() - WITHOUT_PARTS
    for one in told:
        assert one["parts"] == pytest.approx(one["age"], rel=0.01, abs=1), one


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        (name, i)
        for name, of in PIPELINES.items()
        for i, phase in enumerate(of.phases)
        if phase.truth is not None
    ],
)
def test_the_part_that_leads_is_as_long_as_it_was(said: list[Said], name: str, phase: int) -> None:
    """Of every batch whose cause is named; a boundary in another place may leave its name as it is."""
    told = [
        one
        for one in said
        if (one["pipeline"], one["phase"]) == (name, phase)
        and one["named"] == one["expected"]
        and one["bounds"] is not None
    ]
    assert told
    wrong = [one for one in told if not one["bounds"][0] <= one["leads"] <= one["bounds"][1]]
    assert not wrong, wrong


def test_in_real_time_mode_the_step_that_cannot_keep_up_is_named_and_stays_so(printed: list[Said]) -> None:
    """Not the source, though records are old there, nor what stands before it."""
    looks = [one for one in printed if one["pipeline"] == endless.NAME]
    words = [(one["named"], one["text"]) for one in looks]
    since = [*dropwhile(lambda one: one["named"] != endless.EXPECTED, looks)]
    assert len(since) == 1 + endless.LOOKS, words
    for one in since:
        assert (one["named"], one["slowest"]) == (endless.EXPECTED, "scored"), words
        assert " at scored, and records wait for it. " in one["text"], words
        assert "source" not in one["text"], words
        assert one["parts"] == pytest.approx(one["age"], rel=0.01, abs=1), one


def test_operators_tell_that_one_partition_has_most_of_the_work(said: list[Said]) -> None:
    """Nineteen times as much: on a busy machine less, as what is not sleep takes longer in both."""
    batches = [one for one in said if (one["pipeline"], one["phase"]) == ("skewed", 0)]
    skews = [one["skew"] for one in batches]
    assert skews[-1] is not None, skews
    assert skews[-1] > 2, skews
    assert "spread its records over the others" in batches[-1]["text"], batches[-1]


def test_a_stage_without_a_node_asks_for_a_mark(said: list[Said]) -> None:
    text = [one["text"] for one in said if one["pipeline"] == "apart"][-1]
    assert "between stages with a node" in text, text
    assert text.endswith("or mark a step there to see whose it is."), text


@pytest.mark.parametrize(
    ("pipeline", "limit"), [("files", "maxFilesPerTrigger"), ("kafka", "maxOffsetsPerTrigger")]
)
def test_a_backlog_names_the_limit(said: list[Said], pipeline: str, limit: str) -> None:
    texts = [one["text"] for one in said if one["pipeline"] == pipeline and one["named"][0] == "backlog"]
    assert texts
    assert all(f"{limit} admits no more" in text for text in texts)


def test_what_a_limit_leaves_in_kafka_is_known(said: list[Said]) -> None:
    """Forty of four hundred records go with each batch. Other sources do not tell."""
    lags = [one["lag"] for one in said if one["pipeline"] == "kafka"]
    assert set(lags) <= {*range(0, 400, 40)}, lags
    assert lags == sorted(lags, reverse=True), lags
    assert lags[0] > 0, lags
    assert {one["lag"] for one in said if one["pipeline"] != "kafka"} == {None}


def test_a_window_names_its_length_and_the_delay_of_its_watermark(said: list[Said]) -> None:
    text = [one["text"] for one in said if one["pipeline"] == "windowed"][-1]
    assert "8 s behind its newest event, passes the end of their window of 2 s" in text, text


def test_a_join_names_the_side_that_is_silent(said: list[Said]) -> None:
    texts = [one["text"] for one in said if one["pipeline"] == "silent"]
    held = (
        "The watermark has not moved: no record has come from file[never]. "
        "A system-time watermark on it moves on while file[never] is silent; "
        "an idle timeout lets the others go on."
    )
    assert texts[-1] == f"No record with a timestamp has reached the end of the query yet. {held}", texts
