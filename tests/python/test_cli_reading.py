"""The commands that read a UI, by what they print and how they exit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fabricated import NO_SPLIT, earlier, node, note, query, slowest, unknown
from sparklatency.cli import main
from ui import UI, application


def sparklatency(ui: UI, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="sparklatency", env={"SPARKLATENCY_URL": ui.url})


def statistics(value: float, **changed: Any) -> dict[str, Any]:
    return {**dict.fromkeys(("min", "avg", "p50", "p99", "max"), value), **changed}


def watermark(source: str, **known: Any) -> dict[str, Any]:
    return {"source": source, "column": "ts", **known}


LATE = {"records": 7, "min": 3.0, "avg": 4.5, **dict.fromkeys(("p50", "p90", "p95", "p99", "max"), 21_000.0)}
COMMIT = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "p999", "max"), 5_300.0)
BATCH = {
    "batch": 1_233,
    "start": 1_700_000_000_000,
    "committed": 1_700_000_005_000,
    "inputRows": 500,
    "droppedLate": 7,
    "watermark": 1_700_000_003_000,
    "watermarkLag": 2_000,
    "watermarks": [
        {
            "source": "kafka[orders]",
            "column": "ts",
            "delay": 1_000,
            "holdsBack": True,
            "watermark": 1_700_000_003_000,
            "lag": 2_000,
        },
        {
            "source": "kafka[idle]",
            "column": "ts",
            "delay": 500,
            "holdsBack": False,
            "watermark": None,
            "lag": None,
        },
    ],
    "durations": {"addBatch": 4_000, "getBatch": 0, "walCommit": 80},
    "slowestStep": None,
    "criticalPath": [],
    "split": NO_SPLIT,
    "nodes": [],
}
ORDERS = query(
    "orders",
    node("source", own=1_017.25, share=0.1956),
    node("sink", upstream=["source"], avg=5_200.0, own=4_182.75, share=0.8044, commit=COMMIT, lateness=LATE),
    run="c2c67bdc-89ef-4e9c-a968-4a7a75875766",
    slowestStep="sink",
    criticalPath=["source", "sink"],
    headline=slowest("sink", 4_182.75, 5_200.0, "Slowest step: sink, 4.2 s of 5.2 s (80 %)"),
    split={
        "queuing": statistics(1_017.25, min=3.0, max=3_019.0),
        "processing": statistics(4_182.75, sameRecords=True),
        "commit": None,
        "total": statistics(5_300.0),
    },
    lastBatch=BATCH,
)


def shown(printed: Result) -> list[list[str]]:
    assert printed.exit_code == 0, printed.output
    return [line.split() for line in printed.stdout.splitlines()]


def test_top_shows_the_newest_run_of_every_query(ui: UI) -> None:
    ui.queries = [ORDERS, query("clicks", node("source"))]
    ui.earlier_runs = [earlier("orders", "d3d78cee-90f0-4f0d-b079-5b8b86986877")]
    printed = sparklatency(ui, "top", "--once").stdout
    assert [line for line in printed.splitlines() if "·" in line] == [
        "orders · 1,234 batches · latency in ms over the window, records since the start",
        "clicks · 1,234 batches · latency in ms over the window, records since the start",
    ]
    assert "Slowest step: sink, 4.2 s of 5.2 s (80 %)" in printed


def test_operators_shows_own_time_share_and_percentiles(ui: UI) -> None:
    ui.queries = [ORDERS]
    _, headings, _, source, sink, step, path = shown(sparklatency(ui, "operators"))
    assert headings == ["node", "records", "own", "share", "p50", "p90", "p95", "p99", "p99.9", "max"]
    assert source[:5] == ["source", "12,000", "1,017.2", "20", "%"]
    assert sink[:6] == ["sink", "12,000", "4,182.8", "80", "%", "612"]
    assert " ".join(step) == "Slowest step: sink, 4.2 s of 5.2 s (80 %)"
    assert " ".join(path) == "Critical path: source → sink"


def test_operators_shows_how_old_records_are_that_stateful_operators_take_in(ui: UI) -> None:
    intake = {"min": 3, "avg": 4.5, "max": 21_000}
    ui.queries = [query("orders", node("source"), node("sink", staleness=intake))]
    *_, heading, headings, _, row = shown(sparklatency(ui, "operators"))
    assert " ".join(heading).startswith("staleness: age when a stateful operator took a record in")
    assert headings == ["node", "min", "avg", "max"]
    assert row == ["sink", "3", "4.5", "21,000"]
    ui.queries = [query("orders", node("sink", staleness=dict.fromkeys(intake)))]
    *_, row, legend = shown(sparklatency(ui, "operators"))
    assert row == ["sink", "–", "–", "–"]  # noqa: RUF001
    assert " ".join(legend).endswith("no record with a timestamp was taken in within the window")


def test_info_splits_the_latency_and_tells_of_the_last_batch(ui: UI) -> None:
    ui.queries = [ORDERS]
    rows = {row[0]: row[1:] for row in shown(sparklatency(ui, "info", "--query", "orders")) if row}
    assert rows["queuing"] == ["3", "1,017.2", "1,017", "1,017", "3,019"]
    assert rows["processing"] == ["4,182.8"] * 5
    assert rows["commit"] == ["–"] * 5  # noqa: RUF001
    assert " ".join(rows["Slowest"]) == "step: sink, 4.2 s of 5.2 s (80 %)"
    assert rows["Critical"] == ["path:", "source", "→", "sink"]
    assert rows["orders"][3:] == ["·", "latency", "in", "ms", "of", "each", "node's", "last", "batch"]
    assert " ".join(rows["Last"]) == (
        "batch: 1233, 500 rows, committed 2023-11-14 22:13:25.000 UTC, ms: addBatch 4,000, walCommit 80"
    )


def test_what_was_known_last_is_shown_in_silence(ui: UI) -> None:
    last = unknown("source", own=1_017.25, share=1.0)
    ui.queries = [query("orders", last, silent=True)]
    for command, figure in (("top", "1,017.2"), ("operators", "3,023")):
        printed = sparklatency(ui, command).stdout
        assert "orders · 1,234 batches · latency in ms of each node's last batch, records since" in printed
        assert figure in printed.split()
        assert "unknown" not in printed


BEHIND = "At the last commit the watermark was 2 s behind the clock."


def test_watermarks_shows_who_holds_back_and_what_came_too_late(ui: UI) -> None:
    ui.queries = [{**ORDERS, "watermarkText": BEHIND}]
    rows = shown(sparklatency(ui, "watermarks"))
    assert rows[3] == ["kafka[orders]", "ts", "holds", "back", "1,000", "2023-11-14", "22:13:23.000", "2,000"]
    assert rows[4] == ["kafka[idle]", "ts", "500", "–", "–"]  # noqa: RUF001
    moment = "at the last commit, 2023-11-14 22:13:25.000 UTC"
    assert " ".join(rows[0]) == f"orders · 1,234 batches · in ms, {moment}"
    assert " ".join(rows[5]) == BEHIND
    assert " ".join(rows[7]) == "dropped late since the start · by how much, in ms over the window"
    assert rows[-1] == ["sink", "7", "21,000", "21,000", "21,000"]
    ui.queries = [{**ORDERS, "lastBatch": {**ORDERS["lastBatch"], "watermarks": [], "watermarkLag": None}}]
    without = sparklatency(ui, "watermarks").stdout
    assert "The query has no watermark." in without
    assert "behind" not in without


def test_watermarks_says_why_it_is_unknown_how_late_records_were(ui: UI) -> None:
    before = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "max"))
    ui.queries = [query("orders", unknown("sink", lateness={"records": 7, **before}))]
    *_, row, legend = shown(sparklatency(ui, "watermarks"))
    assert row == ["sink", "7", "–", "–", "–"]  # noqa: RUF001
    assert " ".join(legend) == "– unknown: no dropped record had a usable timestamp within the window"  # noqa: RUF001


@pytest.mark.parametrize(
    ("command", "path", "value"),
    [
        ("top", ("queries", 0, "query"), "orders"),
        ("operators", (1, "own"), 4_182.75),
        ("info", ("split", "queuing", "max"), 3_019.0),
        ("watermarks", ("watermarks", 0, "holdsBack"), True),
        ("watermarks", ("late", 0, "records"), 7),
    ],
)
def test_json_has_the_names_of_rest(ui: UI, command: str, path: tuple[Any, ...], value: Any) -> None:
    ui.queries = [ORDERS]
    found = json.loads(sparklatency(ui, command, "--json").stdout)
    for key in path:
        found = found[key]
    assert found == value


def test_one_of_several_queries_has_to_be_named(ui: UI) -> None:
    ui.queries = [ORDERS, query("clicks", node("source"))]
    failed = sparklatency(ui, "info")
    assert failed.exit_code == 1
    assert "There are figures of several queries. Name one by --query: orders, clicks" in failed.stderr
    assert sparklatency(ui, "info", "--query", "clicks").exit_code == 0


def test_no_figures_yet_is_said(ui: UI) -> None:
    assert "No figures yet" in sparklatency(ui, "top").stdout
    assert "No figures yet" in sparklatency(ui, "info").stderr
    assert "no figures of a query 'orders'" in sparklatency(ui, "info", "--query", "orders").stderr


@pytest.mark.parametrize(
    ("limits", "code", "statuses"),
    [
        (["--p99", "5s"], 0, ["met"]),
        (["--p99", "3007ms", "--max", "0.1m"], 0, ["met", "met"]),
        (["--p99", "0.001h", "--avg", "0.1m"], 0, ["met", "met"]),
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
    ],
)
def test_slo_does_not_take_unknown_for_met(ui: UI, arguments: list[str], problem: str) -> None:
    ui.queries = [query("clicks", node("source"))]
    judged = sparklatency(ui, "slo", *arguments)
    assert judged.exit_code == 4
    assert problem in judged.stderr


def test_a_query_that_an_error_ended_keeps_no_limit(ui: UI) -> None:
    ui.queries = [{**ORDERS, "status": "FAILED"}]
    judged = sparklatency(ui, "slo", "--query", "orders", "--node", "sink", "--p99", "5s", "--json")
    document = json.loads(judged.stdout)
    assert (judged.exit_code, document["status"]) == (3, "missed")
    assert [one["status"] for one in document["limits"]] == ["missed"]
    assert document["problem"] == f"an error ended the query's run {ORDERS['run']}" == judged.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["slo", "--query", "q", "--node", "n"], "name at least one limit, such as --p99 5s"),
        (["slo", "--query", "q", "--node", "n", "--p99", "5"], "'5' is not a duration. Write it like 500ms"),
        (["top", "--url", "localhost:4040"], "'localhost:4040' is not the URL of a Spark UI"),
    ],
)
def test_wrong_usage_is_answered_with_right_usage(ui: UI, arguments: list[str], problem: str) -> None:
    failed = sparklatency(ui, *arguments)
    assert failed.exit_code == 2
    assert problem in failed.stderr


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
    assert (
        "warn plugin Long tasks show late. Set --conf spark.plugins=io.sparklatency.LatencyPlugin" in printed
    )
    assert (
        r"wrong no-timestamp two\nlines: bare: no record has a timestamp. Mark it with another column."
        in printed
    )
    assert (
        r"warn ahead-of-clock two\nlines: bare: 3 records are ahead of the clock, by up to 2.5 s." in printed
    )
    assert "silent" not in printed
    assert "ok query" not in printed


def test_check_takes_a_warning_for_less_than_wrong(ui: UI) -> None:
    ui.queries = [query("orders", node("bare"), notes=[note("unnamed", "warn", "The query has no name …")])]
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 0
    assert "warn unnamed orders: The query has no name …" in " ".join(checked.stdout.split())


def test_check_tells_a_ui_without_sparklatency(ui: UI) -> None:
    ui.queries = None
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    assert "is a Spark UI without sparklatency" in checked.stdout


def test_the_newest_attempt_of_the_application_that_was_named_is_read(ui: UI) -> None:
    ui.queries = [ORDERS]
    ui.applications.append(application("application_1_2", "clicks", "2", "1"))
    several = sparklatency(ui, "info")
    assert several.exit_code == 1
    assert "several applications. Name one by its id:\n  app-20231114221320-0001  orders" in several.stderr
    assert sparklatency(ui, "info", "--app", "clicks").exit_code == 0
    assert ui.asked[-1] == "/api/v1/applications/application_1_2/2/latency"
    assert "shows no application nope" in sparklatency(ui, "info", "--app", "nope").stderr


def test_something_else_than_spark_is_told_from_nothing(ui: UI) -> None:
    ui.applications = []
    assert "It shows:\n  none" in sparklatency(ui, "top").stderr
    other = sparklatency(ui, "top", "--url", f"{ui.url}/elsewhere")
    assert "is not a Spark UI. Give the address of a driver's UI" in other.stderr
    nothing = sparklatency(ui, "top", "--url", "http://127.0.0.1:1")
    assert nothing.exit_code == 1
    assert "Nothing answers at http://127.0.0.1:1: [Errno 111] Connection refused." in nothing.stderr


def test_a_driver_that_is_starting_is_told_from_something_else(ui: UI) -> None:
    ui.is_starting = True
    assert "is still starting up. Try again." in sparklatency(ui, "top", "--once").stderr


@pytest.mark.parametrize("name", ["50% of a/b", "a;b", r"a\b", "a\nb", "a\x7fb", "..", ""])
def test_a_name_that_cannot_be_in_a_path_is_found_in_the_list(ui: UI, name: str) -> None:
    ui.queries = [query("clicks", node("source")), query(name, node("sink"), id="other")]
    assert "sink" in sparklatency(ui, "operators", "--query", name).stdout
    assert ui.asked[-1].endswith("/latency")
    ui.queries = [query("clicks", node("source"))]
    missing = sparklatency(ui, "operators", "--query", name)
    assert missing.exit_code == 1
    assert missing.stderr == f"Error: no figures of a query {name!r}; there are figures of 'clicks'\n"


def test_an_earlier_run_of_such_a_name_is_read_by_its_run_id(ui: UI) -> None:
    ui.queries = [query("clicks", node("source"), run="c2c67bdc")]
    ui.earlier_runs = [earlier("a/b", "c2c67bdc")]
    assert "source" in sparklatency(ui, "operators", "--query", "a/b").stdout
    assert ui.asked[-1].endswith("/latency/queries/c2c67bdc")


def test_a_name_that_utf_8_does_not_have_is_refused_where_it_was_given(ui: UI) -> None:
    failed = sparklatency(ui, "info", "--query", "\ud800")
    assert failed.exit_code == 2
    assert r"'\ud800' cannot be written as UTF-8" in failed.stderr
    assert ui.asked == []
    assert sparklatency(ui, "info", "--url", "http://\ud800").exit_code == 2


def test_a_list_of_names_in_a_message_is_bounded(ui: UI) -> None:
    ui.queries = [query(f"q{number}", node("n"), id=f"id{number}") for number in range(1_000)]
    assert sparklatency(ui, "info").stderr.endswith("q7, q8, q9 and 990 more\n")
