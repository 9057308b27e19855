"""What a command says of what answers at the address that it is given, or does not."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from orders import ORDERS, sparklatency
from scraping import required
from sparklatency.reading import rest
from ui import APP, UI, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.one_line


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
    assert f"What answers at {swapped} does not speak HTTPS: [SSL: " in refused.stderr
    assert refused.stderr.endswith(". Is it http://?\n")
    with answering(b"\x15\x03\x03\x00\x02\x02P") as port:  # what Jetty says to HTTP where it speaks TLS
        plain = f"http://127.0.0.1:{port}"
        refused = sparklatency(ui, "top", "--url", plain)
    said = r"\x15\x03\x03\x00\x02\x02P"
    assert refused.stderr == f"Error: What answers at {plain} does not speak HTTP: {said}. Is it https://?\n"


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


def test_a_ui_that_lists_what_it_cannot_show_says_so(ui: UI) -> None:
    """As a History Server does whose event log is damaged."""
    said = f"no such app: {APP}"
    ui.instead = {f"applications/{APP}/latency": (404, said)}
    refused = sparklatency(ui, "top")
    assert refused.stderr == (
        f"Error: {ui.url} lists the application but cannot show it: {said}. "
        "If it is a History Server that cannot read the event log, its own log says why.\n"
    )
    ui.instead = {f"applications/{APP}/environment": (404, said)}
    checked = sparklatency(ui, "check")
    assert checked.exit_code == 3
    assert f"{ui.url} lists the application but cannot show it: {said}. " in checked.stdout


def test_a_ui_without_sparklatency_says_what_may_be_missing(ui: UI) -> None:
    ui.queries = None
    assert sparklatency(ui, "top").stderr == (
        f"Error: {ui.url} is a Spark UI without sparklatency. Start the application with "
        '--jars "$(sparklatency jar)" --conf spark.plugins=io.sparklatency.LatencyPlugin. Without the '
        "plugin, Spark 4.1 and older have it only after it was first used, and only if all its settings are "
        "valid: else the driver's log names the one that is not. "
        "A History Server takes the jar in SPARK_DAEMON_CLASSPATH.\n"
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
