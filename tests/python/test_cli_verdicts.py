"""`slo` and `check`, by what they find and how they exit."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from fabricated import NO_PROGRESS, node, note, query
from orders import ORDERS, sparklatency
from ports import free_port
from sparklatency.binding.jars import jar_lines
from sparklatency.cli import main
from ui import APP, application, serving

if TYPE_CHECKING:
    from ui import UI

pytestmark = pytest.mark.one_line


@pytest.mark.parametrize(
    ("limits", "code", "statuses"),
    [
        (["--p99", "5s"], 0, ["met"]),
        (["--p99", "3007ms", "--max", "0.1m"], 0, ["met", "met"]),
        (["--p99", "0.001h", "--avg", "0.1m"], 0, ["met", "met"]),
        (["--p99", "0.00003d"], 3, ["missed"]),
        (["--p99", "0.00004d"], 0, ["met"]),
        (["--p99", "3s"], 3, ["missed"]),
        (["--commit-p99", "5s", "--p99", "5s"], 3, ["met", "missed"]),
    ],
)
def test_slo_exits_by_what_it_finds(ui: UI, limits: list[str], code: int, statuses: list[str]) -> None:
    ui.queries = [ORDERS]
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--json", *limits)
    assert judged.exit_code == code
    assert sorted(one["status"] for one in json.loads(judged.stdout)["limits"]) == statuses


def test_slo_takes_a_limit_that_is_missed_for_worse_than_one_that_is_unknown(ui: UI) -> None:
    ui.queries = [ORDERS]
    limits = ("--commit-p99", "5s", "--p99", "3s", "--max", "5s")
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "source", "--json", *limits)
    document = json.loads(judged.stdout)
    assert (judged.exit_code, document["status"]) == (3, "missed")
    assert sorted(one["status"] for one in document["limits"]) == ["met", "missed", "unknown"]


def test_slo_prints_each_figure_beside_its_limit(ui: UI) -> None:
    ui.queries = [ORDERS]
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--p99", "3s")
    assert judged.stdout.splitlines()[-1].split() == ["p99", "missed", "3,007", "3,000"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--query", "orders", "--node", "sink", "--p99", "5s"], "no figures of a query 'orders'"),
        (["--query", "clicks", "--node", "snik", "--p99", "5s"], "there is no node 'snik'; nodes: source"),
        (["--query", "clicks", "--node", "source", "--commit-p99", "5s"], "only the last nodes"),
        (["--query", "clicks", "--node", "sink", "--commit-p99", "5s"], "has no commit latency yet"),
    ],
)
def test_slo_does_not_take_unknown_for_met(ui: UI, arguments: list[str], problem: str) -> None:
    ui.queries = [query("clicks", node("source"), node("sink", upstream=["source"]))]
    judged = sparklatency(ui, "slo", *arguments)
    assert judged.exit_code == 4
    assert problem in judged.stderr


def test_slo_looks_at_the_first_batch_of_a_run_before_it_is_committed(ui: UI) -> None:
    waits = {"running": 600_000, "activity": {"hasData": True}}
    nodes = node("source"), node("sink", upstream=["source"])
    ui.queries = [query("orders", *nodes, progress={**NO_PROGRESS, **waits, "text": ""})]
    for name, code in {"sink": 3, "source": 0}.items():
        judged = sparklatency(ui, "slo", "--query", "orders", "--node", name, "--p99", "5m")
        assert judged.exit_code == code, judged.stderr
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--commit-max", "2m")
    assert (judged.exit_code, judged.stderr) == (
        3,
        "the records of the batch in progress have waited for 600,000 ms\n",
    )


def test_a_query_that_an_error_ended_keeps_no_limit(ui: UI) -> None:
    ui.queries = [{**ORDERS, "status": "FAILED"}]
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--p99", "5s", "--json")
    document = json.loads(judged.stdout)
    assert (judged.exit_code, document["status"]) == (3, "missed")
    assert [one["status"] for one in document["limits"]] == ["missed"]
    assert document["problem"] == f"an error ended the query's run {ORDERS['run']}" == judged.stderr.strip()


def test_slo_tells_of_records_that_its_figures_are_not_to_be_trusted_for(ui: UI) -> None:
    """A producer whose clock is an hour ahead meets every limit."""
    future = "sink: 500 records are ahead of the clock, by up to 1 h."
    without = "sink: 3 of 12,000 records have no timestamp and are not measured."
    notes = [
        note("without-timestamp", "warn", without, node="sink"),
        note("ahead-of-clock", "warn", "source: 500 records are ahead of the clock.", node="source"),
        note("ahead-of-clock", "warn", future, node="sink"),
        note("dropped-late", "info", "sink dropped 7 late records.", node="sink"),
        note("unnamed", "warn", "The query is shown by its id …"),
    ]
    ui.queries = [query("orders", node("sink", p99=-3_600_000.0), notes=notes)]
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--p99", "5s")
    assert (judged.exit_code, judged.stderr) == (0, f"{without}\n{future}\n")
    assert judged.stdout.splitlines()[-1].split() == ["p99", "met", "-3,600,000", "5,000"]
    as_json = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--p99", "5s", "--json")
    assert (as_json.stderr, json.loads(as_json.stdout)["problem"]) == (f"{without}\n{future}\n", None)


@pytest.mark.parametrize(
    ("node", "progress", "missed", "problem"),
    [
        (
            "sink",
            {"oldestUncommitted": 7_001},
            {"max"},
            "the oldest record that waits for its commit is at least 7,001 ms old",
        ),
        ("sink", {"oldestUncommitted": 7_000}, set(), None),
        (
            "sink",
            {"running": 7_001, "activity": {"hasData": True}},
            {"p50", "p99", "max"},
            "the records of the batch in progress have waited for 7,001 ms",
        ),
        ("sink", {"running": 7_000, "activity": {"hasData": True}}, set(), None),
        # They have passed the source.
        (
            "source",
            {"oldestUncommitted": 7_001, "running": 7_001, "activity": {"hasData": True}},
            set(),
            None,
        ),
        # It waits for the offsets of a broker that is down: no record is known to wait.
        (
            "source",
            {"running": 7_001, "stalled": True, "activity": {"hasData": False}},
            {"p50", "p99", "max"},
            "the batch in progress hangs: it has run for 7,001 ms",
        ),
    ],
)
def test_what_waits_for_longer_than_a_limit_misses_it(
    ui: UI, node: str, progress: dict[str, Any], missed: set[str], problem: str | None
) -> None:
    ui.queries = [{**ORDERS, "progress": {**ORDERS["progress"], **progress}}]
    limits = ("--p50", "7s", "--p99", "7s", "--max", "7s")
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", node, *limits, "--json")
    document = json.loads(judged.stdout)
    assert {one["figure"] for one in document["limits"] if one["status"] == "missed"} == missed
    assert (judged.exit_code == 3, document["problem"]) == (bool(missed), problem)


@pytest.mark.parametrize("node", ["source", "sink"])
@pytest.mark.parametrize(
    ("progress", "statuses", "code", "problem"),
    [
        (
            {"running": 7_001, "activity": {"hasData": False}},
            ["unknown", "met"],
            4,
            "whether records wait is not known: "
            "the batch in progress has run for 7,001 ms and has found none yet",
        ),
        ({"running": 7_000, "activity": {"hasData": False}}, ["met", "met"], 0, None),
        ({"running": None, "activity": {"hasData": False}}, ["met", "met"], 0, None),
        # Only the driver tells.
        ({"running": 7_001, "activity": None}, ["met", "met"], 0, None),
    ],
)
def test_a_limit_is_unknown_where_the_batch_has_found_no_record_for_longer(
    ui: UI, node: str, progress: dict[str, Any], statuses: list[str], code: int, problem: str | None
) -> None:
    """As one that waits for the offsets of a broker that is down, before it is known to hang."""
    ui.queries = [{**ORDERS, "progress": {**ORDERS["progress"], **progress}}]
    limits = ("--p90", "7s", "--p99", "8s")
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", node, *limits, "--json")
    document = json.loads(judged.stdout)
    found = {one["figure"]: one["status"] for one in document["limits"]}
    assert [found["p90"], found["p99"]] == statuses
    assert (judged.exit_code, document["problem"]) == (code, problem)


def test_check_finds_nothing_wrong_with_what_fits(ui: UI) -> None:
    ui.queries = [ORDERS]
    checked = sparklatency(ui, "check", "--json")
    assert checked.exit_code == 0, checked.output
    findings = {one["what"]: one for one in json.loads(checked.stdout)}
    assert {one["status"] for one in findings.values()} == {"ok"}
    assert findings["application"]["detail"] == "orders, Spark 4.2.0"
    assert findings["query"]["detail"] == "orders, 1,234 batches, 2 nodes"


def test_check_counts_one_of_a_thing_as_one(ui: UI) -> None:
    ui.queries = [query("orders", node("source"), batches=1)]
    assert "ok query orders, 1 batch, 1 node" in " ".join(sparklatency(ui, "check").stdout.split())


def test_check_says_what_to_mend(ui: UI) -> None:
    ui.queries = [
        query(
            "two\nlines",
            node("bare"),
            notes=[
                note("silent", "info", "No record with a timestamp came within the last 60 s: …"),
                note(
                    "no-timestamp", "wrong", "bare: no record has a timestamp. Mark it with another column."
                ),
                note("ahead-of-clock", "warn", "bare: 3 records are ahead of the clock, by up to 2.5 s."),
            ],
        )
    ]
    ui.settings = {}
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    printed = " ".join(checked.stdout.split())
    lost = "On a cluster long tasks show late, and clocks are not corrected."
    assert f"warn plugin Is not set. {lost} Set --conf spark.plugins=io.sparklatency.LatencyPlugin" in printed
    assert (
        r"wrong no-timestamp two\nlines: bare: no record has a timestamp. Mark it with another column."
        in printed
    )
    assert (
        r"warn ahead-of-clock two\nlines: bare: 3 records are ahead of the clock, by up to 2.5 s." in printed
    )
    assert "silent" not in printed
    assert "ok query" not in printed


def test_check_of_an_application_wants_to_know_where_it_is() -> None:
    asked = CliRunner().invoke(main, ["check", "--app", "orders"])
    assert asked.exit_code == 2
    assert "--app chooses among the applications of a UI. Name the UI by --url." in asked.stderr


@pytest.mark.parametrize(
    ("spark", "found"),
    [
        ("3.5.9", ("ok", "orders, Spark 3.5.9")),
        (
            "3.4.4",
            (
                "warn",
                f"orders, Spark 3.4.4. This wheel has no jar for it. There are: {', '.join(jar_lines())}.",
            ),
        ),
    ],
)
def test_check_tells_the_spark_of_the_application_not_of_a_history_server(
    ui: UI, spark: str, found: tuple[str, str]
) -> None:
    ui.applications = [application(APP, "orders", spark=spark)]
    ui.instead = {"version": (200, '{"spark": "4.2.0"}')}
    findings = json.loads(sparklatency(ui, "check", "--json").stdout)
    assert [(one["status"], one["detail"]) for one in findings if one["what"] == "application"] == [found]


@pytest.mark.parametrize("spark", ["", "odd"])
def test_check_says_that_it_cannot_read_a_version_of_spark(ui: UI, spark: str) -> None:
    ui.applications = [application(APP, "orders", spark=spark)]
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    assert f"wrong application '{spark}' is not a version of Spark" in " ".join(checked.stdout.split())


def test_check_of_an_address_with_a_blank_behind_it_says_that_nothing_answers() -> None:
    checked = CliRunner().invoke(main, ["check", "--url", f"http://127.0.0.1:{free_port()} "])
    assert checked.exit_code == 3, checked.output
    assert "wrong application" in " ".join(checked.stdout.split())


def test_check_takes_a_warning_for_less_than_wrong(ui: UI) -> None:
    ui.queries = [query("orders", node("bare"), notes=[note("unnamed", "warn", "The query has no name …")])]
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 0
    assert "warn unnamed orders: The query has no name …" in " ".join(checked.stdout.split())


def test_check_says_by_which_columns_nodes_go_and_what_nothing_reads(ui: UI) -> None:
    ui.queries = [
        query(
            "orders",
            node("source", timestamp="ts"),
            node("totals", timestamp="window.end"),
            node("sink", timestamp="ts"),
            node("old"),
            notes=[note("left-out", "info", "The ingestion timestamp 'at' is left out of the plan: …")],
        )
    ]
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 0
    lines = [" ".join(line.split()) for line in checked.stdout.splitlines()]
    assert [line for line in lines if "orders:" in line or line.startswith("ok query")] == [
        "ok left-out orders: The ingestion timestamp 'at' is left out of the plan: …",
        "ok timestamp orders: source, sink go by ts",
        "ok timestamp orders: totals goes by window.end",
        "ok query orders, 1,234 batches, 4 nodes",
    ]


def next_port(ui: UI) -> int:
    port = urlsplit(ui.url).port
    assert port is not None
    return port + 1


def test_check_finds_the_application_on_the_next_port() -> None:
    """Where that port is taken, another pair is tried."""
    for _ in range(20):
        with suppress(OSError), serving() as first, serving(next_port(first)) as second:
            first.queries = None
            second.settings = {"spark.app.name": "clicks"}
            checked = " ".join(sparklatency(first, "check").stdout.split())
            assert (
                f"warn application There is another one, clicks. Is it meant? --url {second.url}" in checked
            )
            # Both have figures: the name tells which one was looked at.
            first.queries = [ORDERS]
            second.queries = [query("clicks", node("source"))]
            checked = " ".join(sparklatency(first, "check").stdout.split())
            assert "ok application orders, Spark 4.2.0" in checked
            assert "ok query orders, " in checked
            assert "clicks" not in checked
            return
    pytest.fail("no two ports beside each other are free")


def test_check_says_when_it_looked_at_no_application() -> None:
    found = json.loads(CliRunner().invoke(main, ["check", "--json"]).stdout)
    assert [(one["status"], one["detail"]) for one in found if one["what"] == "application"] == [
        ("warn", "None was looked at. Name its UI by --url.")
    ]


def test_check_tells_a_ui_without_sparklatency(ui: UI) -> None:
    ui.queries = None
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    assert "is a Spark UI without sparklatency" in checked.stdout
