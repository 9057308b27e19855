"""Which application, query and run a command means, and what it says where there is none."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from fabricated import earlier, node, query
from orders import ORDERS, sparklatency
from scraping import required
from sparklatency import latency
from sparklatency.errors import SparkLatencyError
from sparklatency.reading import rest
from sparklatency.reading.rest import RestReader
from ui import APP, UI, application, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    refused(ui, url, "No user or password is sent. Write the URL without, like http://driver:4040.", "sec")
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
    refused(ui, url, "Write the URL without what begins with ? or #, like http://driver:4040.", "secret")


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


def test_something_else_than_spark_is_told_from_nothing(ui: UI) -> None:
    ui.applications = []
    assert "It shows:\n  none" in sparklatency(ui, "top").stderr
    other = sparklatency(ui, "top", "--url", f"{ui.url}/elsewhere")
    assert f"{ui.url}/elsewhere is not a Spark UI. Is it {ui.url}? Give the address of a " in other.stderr
    ui.instead = {"applications": (404, "")}
    assert "is not a Spark UI. Give the address of a driver's UI" in sparklatency(ui, "top").stderr
    nothing = sparklatency(ui, "top", "--url", "http://127.0.0.1:1")
    assert nothing.exit_code == 1
    assert "Nothing answers at http://127.0.0.1:1: [Errno 111] Connection refused." in nothing.stderr


def test_a_certificate_that_nobody_trusts_is_told_from_nothing_until_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, key = tmp_path / "own.pem", tmp_path / "key.pem"
    signed = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    made = [required("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", *signed]
    subprocess.run([*made, "-keyout", key, "-out", own], check=True, capture_output=True)
    with serving(certificate=(own, key)) as secure:
        secure.queries = [ORDERS]
        refused = sparklatency(secure, "top")
        assert refused.exit_code == 1
        problem = f"The certificate of {secure.url} is not trusted here: self-signed certificate."
        assert f"{problem} Name a file that has it" in refused.stderr
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert "Slowest step: sink" in sparklatency(secure, "top").stdout


@contextmanager
def answering(said: bytes) -> Iterator[int]:
    """The port of a server that says this to whoever asks first, whatever he asks."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(4096)
                connection.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def test_http_where_https_is_spoken_and_the_other_way_round_are_told_from_nothing(ui: UI) -> None:
    swapped = ui.url.replace("http:", "https:")
    refused = sparklatency(ui, "top", "--url", swapped)
    assert f"What answers at {swapped} speaks no HTTPS: [SSL: " in refused.stderr
    assert refused.stderr.endswith(". Is it http://?\n")
    with answering(b"\x15\x03\x03\x00\x02\x02P") as port:  # what Jetty says to HTTP where it speaks TLS
        plain = f"http://127.0.0.1:{port}"
        refused = sparklatency(ui, "top", "--url", plain)
    said = r"\x15\x03\x03\x00\x02\x02P"
    assert refused.stderr == f"Error: What answers at {plain} speaks no HTTP: {said}. Is it https://?\n"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_who_closes_the_connection_without_a_word_is_nothing_that_answers(ui: UI, scheme: str) -> None:
    """As a tunnel does whose other end is gone. To change the scheme would not help."""
    with answering(b"") as port:
        url = f"{scheme}://127.0.0.1:{port}"
        refused = sparklatency(ui, "top", "--url", url)
    assert refused.stderr.startswith(f"Error: Nothing answers at {url}: ")
    assert "Does the application run? Is its UI on" in refused.stderr


def test_who_does_not_answer_in_time_may_do_so_later(ui: UI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "_TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        refused = sparklatency(ui, "top", "--url", url)
    assert refused.stderr == (
        f"Error: {url} has not answered within 0.05 s. Try again: a History Server reads the event log "
        "first, and goes on with that.\n"
    )


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_proxy_is_not_asked_for_this_machine(ui: UI, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    ui.queries = [ORDERS]
    with answering(b"HTTP/1.1 403 Not mine\r\n\r\n") as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        assert (
            "Slowest step: sink" in sparklatency(ui, "top", "--url", ui.url.replace("127.0.0.1", host)).stdout
        )
        asked = sparklatency(ui, "top", "--url", "http://driver.invalid:4040")
    assert asked.stderr == "Error: http://driver.invalid:4040 answers 403 Not mine.\n"


def test_a_url_may_have_a_line_of_its_own(ui: UI, tmp_path: Path) -> None:
    ui.queries = [ORDERS]
    file = tmp_path / "ui"
    file.write_text(f" {ui.url}/ \n")
    assert "Slowest step: sink" in sparklatency(ui, "top", "--url", file.read_text()).stdout
    assert [query.query for query in latency(url=file.read_text()).queries] == ["orders"]


def test_a_ui_that_lists_what_it_cannot_show_says_so(ui: UI) -> None:
    """As a History Server does whose event log is damaged."""
    said = f"no such app: {APP}"
    ui.instead = {f"applications/{APP}/latency": (404, said)}
    refused = sparklatency(ui, "top")
    assert refused.stderr == (
        f"Error: {ui.url} lists the application and cannot show it: {said}. "
        "A History Server whose log it cannot read says why in its own.\n"
    )
    ui.instead = {f"applications/{APP}/environment": (404, said)}
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    assert f"{ui.url} lists the application and cannot show it: {said}. " in checked.stdout


def test_an_application_without_an_attempt_hides_no_other(ui: UI) -> None:
    ui.queries = [ORDERS]
    ui.applications.insert(0, {"id": "app-1", "name": "clicks", "attempts": []})
    assert sparklatency(ui, "info").exit_code == 0


def test_a_ui_without_sparklatency_says_what_may_be_missing(ui: UI) -> None:
    ui.queries = None
    assert sparklatency(ui, "top").stderr == (
        f"Error: {ui.url} is a Spark UI without sparklatency. Start the application with "
        '--jars "$(sparklatency jar)" --conf spark.plugins=io.sparklatency.LatencyPlugin. Without the plugin '
        "a Spark before 4.2 has it only once it is used, and not if a setting is not valid, which its log "
        "names. A History Server takes the jar in SPARK_DAEMON_CLASSPATH.\n"
    )


def test_a_handshake_that_the_ui_ends_is_no_question_of_http(ui: UI) -> None:
    """As one does that asks for a certificate of its clients."""
    with answering(b"\x15\x03\x03\x00\x02\x02\x28") as port:
        url = f"https://127.0.0.1:{port}"
        refused = sparklatency(ui, "top", "--url", url)
    assert f"{url} ends the TLS handshake: [SSL: " in refused.stderr
    assert "Is it http://?" not in refused.stderr


def test_who_refuses_and_breaks_off_has_refused(ui: UI) -> None:
    """As a proxy does whose driver has gone meanwhile."""
    with answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100\r\n\r\n<ht") as port:
        url = f"http://127.0.0.1:{port}"
        refused = sparklatency(ui, "top", "--url", url)
    assert refused.stderr == f"Error: {url} answers 502 Bad Gateway.\n"


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (["operators", "--json"], "nodes"),
        (["path", "--json"], "operatorsSoFar"),
        (["watermarks", "--json"], "lastBatch"),
        (["slo", "--query", "orders", "--node", "sink", "--p99", "5s"], "nodes"),
        (["slo", "--query", "orders", "--node", "sink", "--p99", "5s", "--json"], "progress"),
        (["info", "--query", "a/b"], "id"),
        (["info"], "split"),
    ],
)
def test_figures_of_another_version_are_told_by_each_command(ui: UI, command: list[str], field: str) -> None:
    ui.queries = [{name: value for name, value in ORDERS.items() if name != field}]
    failed = sparklatency(ui, *command)
    assert isinstance(failed.exception, SystemExit)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert failed.stderr.startswith(
        f"Error: The figures have no field '{field}'. Another version of sparklatency wrote them. This is "
    )


def test_a_driver_that_is_starting_is_told_from_something_else(ui: UI) -> None:
    ui.is_starting = True
    assert "is still starting up. Try again." in sparklatency(ui, "top", "--once").stderr
    ui.is_starting, ui.instead = False, {"applications": (503, "Spark is starting up. Please wait.")}
    assert "is still starting up. Try again." in sparklatency(ui, "top", "--once").stderr


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, "", "401 Unauthorized."),
        (403, "user eve is not authorized", "403 Forbidden: user eve is not authorized"),
        (500, "out of\nmemory", r"500 Internal Server Error: out of\nmemory"),
        (503, "x" * 1_000, f"503 Service Unavailable: {'x' * 299}…"),
    ],
)
def test_a_ui_that_refuses_is_told_from_something_else_and_says_why(
    ui: UI, status: int, body: str, said: str
) -> None:
    for path in ("applications", f"applications/{APP}/latency"):
        ui.instead = {path: (status, body)}
        refused = sparklatency(ui, "top", "--once")
        assert (refused.exit_code, refused.stderr) == (1, f"Error: {ui.url} answers {said}\n")
    ui.instead = {f"applications/{APP}/environment": (status, body)}
    [found] = [
        one for one in json.loads(sparklatency(ui, "check", "--json").stdout) if one["status"] == "wrong"
    ]
    assert (found["what"], found["detail"]) == ("application", f"{ui.url} answers {said}")


@pytest.mark.parametrize(
    "body",
    ["{}", "null", '"Spark"', '["app-1"]', "[{}]", '[{"id": "app-1", "name": "orders", "attempts": [{}]}]'],
)
def test_json_of_something_else_is_told_from_that_of_spark(ui: UI, body: str) -> None:
    for path, command in (
        ("applications", "top"),
        ("applications", "check"),
        (f"applications/{APP}/environment", "check"),
    ):
        ui.instead = {path: (200, body)}
        other = sparklatency(ui, command)
        assert isinstance(other.exception, SystemExit)
        assert f"What answers at {ui.url} is not a Spark UI." in other.output


@pytest.mark.parametrize(
    "body", ["{}", "null", '"Spark"', "[1]", '{"queries": null}', '{"queries": [1], "earlierRuns": []}']
)
def test_json_of_something_else_is_told_from_that_of_ours(ui: UI, body: str) -> None:
    ui.instead = {f"applications/{APP}/latency": (200, body)}
    for command in (["top"], ["info"], ["check"], ["operators", "--query", "a/b"]):
        other = sparklatency(ui, *command)
        assert isinstance(other.exception, SystemExit)
        assert f"{ui.url} answers, but with no figures of sparklatency." in other.output


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
