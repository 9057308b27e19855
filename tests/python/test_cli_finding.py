"""Which application, query and run a command means, and how it has to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fabricated import earlier, node, query
from orders import ORDERS, sparklatency
from sparklatency import latency
from sparklatency.errors import SparkLatencyError
from sparklatency.reading.rest import RestReader
from ui import UI, application

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_line


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
    ("arguments", "problem"),
    [
        (["slo", "--query", "q", "--node", "n"], "name at least one limit, such as --p99 5s"),
        (
            ["slo", "--query", "q", "--node", "n", "--p99", "5"],
            "'5' is not a duration. Write it like 500ms, 5s",
        ),
        (["slo", "--query", "q", "--node", "n", "--p99", "9" * 400 + "s"], "is not a duration. Write"),
        (["top", "--every", "0s"], "'0s' is not between 100ms and 1d."),
        (["top", "--every", "99.4ms"], "'99.4ms' is not between 100ms and 1d."),
        (["top", "--every", "999999999999h"], "'999999999999h' is not between 100ms and 1d."),
        (["top", "--url", "localhost:4040"], "'localhost:4040' is not the URL of a Spark UI"),
    ],
)
def test_wrong_usage_is_answered_with_right_usage(ui: UI, arguments: list[str], problem: str) -> None:
    failed = sparklatency(ui, *arguments)
    assert failed.exit_code == 2
    assert problem in failed.stderr


@pytest.mark.parametrize("command", [["top"], ["check"]])
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:70000",
        "http://localhost:abc",
        "http://:4040",
        "http://[::1:4040",
        "ftp://driver",
        "http://dri ver:4040",
    ],
)
def test_a_url_that_is_none_is_wrong_usage_of_each_command(ui: UI, command: list[str], url: str) -> None:
    failed = sparklatency(ui, *command, "--url", url)
    assert failed.exit_code == 2
    assert f"'{url}' is not the URL of a Spark UI. Write it like http://driver:4040.\n" in failed.stderr


def refused(ui: UI, url: str, why: str, secret: str) -> None:
    """Whatever asks for a UI says why it does not take a URL, and does not show what stays secret."""
    for command in ("top", "check"):
        failed = sparklatency(ui, command, "--url", url)
        assert failed.exit_code == 2
        assert why in failed.stderr
        assert secret not in failed.output


@pytest.mark.parametrize(
    "url",
    [
        "http://eve:secret@driver:4040",
        "eve:secret@driver:4040",
        "http://eve:sec/ret@driver",
        "//:secret@[driver",
    ],
)
def test_a_url_with_a_password_is_refused_and_the_password_is_not_shown(ui: UI, url: str) -> None:
    refused(
        ui, url, "No user or password is sent. Write the URL without them, like http://driver:4040.", "sec"
    )
    assert RestReader(f"{ui.url}/@proxy")  # which is no user


@pytest.mark.parametrize(
    "url",
    [
        "http://driver:4040/latency/query?id=secret",
        "http://driver:4040#secret",
        "driver:4040/?token=secret",
        "http://dri ver/?secret",
    ],
)
def test_the_address_of_a_page_is_refused_and_what_it_asks_for_is_not_shown(ui: UI, url: str) -> None:
    refused(ui, url, "Leave out what begins with ? or #. Write the URL like http://driver:4040.", "secret")


def test_check_of_the_last_port_looks_at_no_port_after_it(ui: UI) -> None:
    checked = sparklatency(ui, "check", "--url", "http://localhost:65535")
    assert (checked.exit_code, checked.stderr) == (3, "")
    assert "Nothing answers at http://localhost:65535" in checked.stdout


def test_the_newest_attempt_of_the_application_that_was_named_is_read(ui: UI) -> None:
    ui.queries = [ORDERS]
    ui.applications.append(application("application_1_2", "clicks", "2", "1"))
    several = sparklatency(ui, "info")
    assert several.exit_code == 1
    assert "several applications. Name one by its id:\n  app-20231114221320-0001  orders" in several.stderr
    assert sparklatency(ui, "info", "--app", "clicks").exit_code == 0
    assert ui.asked[-1] == "/api/v1/applications/application_1_2/2/latency"
    assert "shows no application nope. It shows:" in sparklatency(ui, "info", "--app", "nope").stderr
    assert "shows no application ''. It shows:" in sparklatency(ui, "info", "--app", "").stderr


def test_who_goes_on_asking_is_told_of_the_attempt_that_has_come_since(ui: UI) -> None:
    ui.queries = [ORDERS]
    ui.applications = [application("application_1", "clicks", "1")]
    reader = RestReader(ui.url)
    reader.queries()
    ui.applications = [application("application_1", "clicks", "2", "1")]
    reader.queries()
    assert ui.asked[-1] == "/api/v1/applications/application_1/2/latency"
    ui.applications = [application("application_2", "orders", "1")]
    reader.queries()
    assert ui.asked[-1] == "/api/v1/applications/application_2/1/latency"


def test_of_several_applications_those_are_listed_that_are_meant(ui: UI) -> None:
    """A job that runs each night, on a History Server that has thousands of others."""
    ui.applications = [application(f"app-{number}", f"other {number}") for number in range(25)]
    ui.applications[21:21] = [application(f"shop-{day}", "shop") for day in (2, 1)]
    several = sparklatency(ui, "info", "--app", "shop").stderr
    assert several == (
        f"Error: {ui.url} shows several applications named shop. Name one by its id:\n"
        "  shop-2  shop\n  shop-1  shop\n"
    )
    for unknown, said in (
        (["--app", "nope"], "no application nope. It shows:"),
        ([], "several applications."),
    ):
        listed = sparklatency(ui, "info", *unknown).stderr
        assert said in listed
        assert listed.endswith("  app-19  other 19\n  and 7 more\n")


def test_a_url_may_have_a_line_of_its_own(ui: UI, tmp_path: Path) -> None:
    ui.queries = [ORDERS]
    file = tmp_path / "ui"
    file.write_text(f" {ui.url}/ \n")
    assert "Slowest step: sink" in sparklatency(ui, "top", "--url", file.read_text()).stdout
    assert [query.query for query in latency(url=file.read_text()).queries] == ["orders"]


def test_an_application_without_an_attempt_hides_no_other(ui: UI) -> None:
    ui.queries = [ORDERS]
    ui.applications.insert(0, {"id": "app-1", "name": "clicks", "attempts": []})
    assert sparklatency(ui, "info").exit_code == 0


def test_an_application_that_took_the_place_of_another_is_read_in_its_place(ui: UI) -> None:
    ui.queries = [ORDERS]
    reader = RestReader(ui.url)
    assert reader.queries()["queries"] == [ORDERS]
    ui.applications, ui.queries = [application("app-2", "orders")], [query("clicks", node("source"))]
    assert [one["query"] for one in reader.queries()["queries"]] == ["clicks"]
    ui.queries = None
    with pytest.raises(SparkLatencyError, match="is a Spark UI without sparklatency"):
        reader.queries()
    named = RestReader(ui.url, "app-2")
    ui.queries = []
    assert named.queries()["queries"] == []
    ui.applications = [application("app-3", "orders")]
    with pytest.raises(SparkLatencyError, match=r"shows no application app-2\. It shows:\n  app-3"):
        named.queries()


@pytest.mark.parametrize(
    "name", ["50% of a/b", "a;b", r"a\b", "a\nb", "a\x7fb", "my query", "a?b", "é", "..", ""]
)
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
