"""A UI that shows what a test gives it, so that commands have something to read without Spark."""

from __future__ import annotations

import json
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APP = "app-20231114221320-0001"


class UI:
    """Answers as Spark's UI does; what it knows can be changed."""

    url: str

    def __init__(self) -> None:
        self.applications = [application(APP, "orders")]
        self.settings = {"spark.app.name": "orders", "spark.plugins": "io.sparklatency.LatencyPlugin"}
        self.queries: list[dict[str, Any]] | None = []
        """None: no sparklatency."""
        self.earlier_runs: list[dict[str, Any]] = []
        self.is_starting = False
        self.instead: dict[str, tuple[int, str]] = {}
        """What it answers at other paths of Spark's REST than it should."""
        self.asked: list[str] = []

    def answer(self, url: str) -> tuple[int, str]:
        self.asked.append(url)
        if self.is_starting:
            return 200, "<h1>Spark is starting up. Please wait a while until it's ready.</h1>"
        path = urlsplit(url).path.removeprefix("/api/v1").strip("/")
        if path in self.instead:
            return self.instead[path]
        if (gone := self._no_application(path)) is not None:
            is_itself = path.count("/") == 1
            return 404, f"{'unknown' if is_itself else 'no such'} app: {gone}"
        match path.split("/"):
            case ["applications"]:
                return 200, json.dumps(self.applications)
            case ["applications", id_]:
                return 200, json.dumps(next(one for one in self.applications if one["id"] == id_))
            case ["applications", _, "environment"]:
                return 200, json.dumps({"sparkProperties": list(self.settings.items())})
            case ["applications", *_, "latency"] if self.queries is not None:
                return 200, json.dumps({"queries": self.queries, "earlierRuns": self.earlier_runs})
            case ["applications", *_, "latency", "queries", query] if self.queries is not None:
                found = [one for one in self.queries if unquote(query) in (one["query"], one["run"])]
                missing = f"no figures of a query '{unquote(query)}': none is known"
                document = {"queries": found[:1], "earlierRuns": []}
                return (200, json.dumps(document)) if found else (404, missing)
            case _:
                return 404, "<html>Not Found</html>"

    def _no_application(self, path: str) -> str | None:
        asked = path.split("/")[1] if path.startswith("applications/") else None
        return None if asked is None or any(asked == one["id"] for one in self.applications) else asked


def application(id_: str, name: str, *attempts: str, spark: str = "4.2.0") -> dict[str, Any]:
    """An application; its attempts, if it makes several, the newest first."""
    only = {"completed": False, "appSparkVersion": spark}
    listed = [{**only, "attemptId": attempt} for attempt in attempts]
    return {"id": id_, "name": name, "attempts": listed or [only]}


@contextmanager
def serving(port: int = 0, certificate: tuple[Path, Path] | None = None) -> Iterator[UI]:
    """With a certificate and its key it speaks HTTPS, as a UI does with ``spark.ssl.ui.enabled``."""
    known = UI()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = known.answer(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    known.url = f"http://127.0.0.1:{server.server_port}"
    if certificate is not None:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(*certificate)
        server.socket = secure.wrap_socket(server.socket, server_side=True)
        known.url = f"https://localhost:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield known
    server.shutdown()
    server.server_close()
