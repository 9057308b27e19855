"""Reading an application's figures by the UI of its driver, or of a History Server."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import urlopen

from sparklatency.errors import NoFiguresError, SparkLatencyError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_SECONDS = 30
"""The first question makes a driver start its REST service, which takes seconds on a busy machine."""
_STARTING = "Spark is starting up"
_NO_FIGURES = "no figures of a query"
_NONE_IS_KNOWN = "none is known, no batch of it with a marked node has ended, or newer runs took its place"


class RestReader:
    """Reads one application over HTTP. It is looked for at the first question.

    Args:
        url: of the UI, such as ``http://driver:4040``; what a proxy puts before the UI's own paths is kept.
        app: id or name of the application, where the UI shows several.

    Raises:
        ValueError: the URL is none of HTTP.
    """

    def __init__(self, url: str, app: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no URL of a Spark UI: write it like http://driver:4040")
        self._ui = url.rstrip("/")
        self._app = app
        self._found: str | None = None

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of queries.

        Raises:
            NoFiguresError: no query of that name or id has been measured.
            SparkLatencyError: nothing answers at the URL, or no Spark; it does not show that application, or
                several; the application has no sparklatency.
        """
        if query is None:
            return self._latency("")
        if _in_a_path(query):
            return self._latency(f"/queries/{quote(query, safe='')}")
        found = self._latency("")["queries"]
        named = [one for one in found if query in (one["query"], one["id"], one["run"])]
        if not named:
            names = ", ".join(dict.fromkeys(f"'{one['query']}'" for one in found))
            others = f"; there are figures of {names}" if names else ""
            raise NoFiguresError(f"{_NO_FIGURES} '{query}': {_NONE_IS_KNOWN}{others}")
        return {"queries": named[:1]}

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns batches; raises the same."""
        return self._latency(f"/queries/{quote(query, safe='')}/batches?{urlencode({'limit': limit})}")

    def spark_version(self) -> str:
        """Returns the version of Spark that answers, such as ``4.2.0``; raises the same."""
        return str(self._spark("/api/v1/version")["spark"])

    def settings(self) -> Mapping[str, str]:
        """Returns the settings of the application, secrets hidden; raises the same."""
        return dict(self._spark(f"{self._application()}/environment")["sparkProperties"])

    def _latency(self, path: str) -> Mapping[str, Any]:
        try:
            document: Mapping[str, Any] = json.loads(self._get(f"{self._application()}/latency{path}"))
        except HTTPError as refused:
            raise self._explained(refused) from refused
        except ValueError as unreadable:
            raise SparkLatencyError(
                f"{self._ui} answers, but not with figures of sparklatency."
            ) from unreadable
        return document

    def _application(self) -> str:
        """Returns the path of the application, with its newest attempt where it has several."""
        if self._found is None:
            [app] = self._matching(self._spark("/api/v1/applications"))
            attempt = app["attempts"][0].get("attemptId")
            self._found = f"/api/v1/applications/{quote(app['id'])}" + (f"/{attempt}" if attempt else "")
        return self._found

    def _spark(self, path: str) -> Any:
        """Returns what Spark's own REST says."""
        said = ""
        try:
            said = self._get(path)
            return json.loads(said)
        except (HTTPError, ValueError) as other:
            if isinstance(other, HTTPError):
                said = other.read().decode(errors="replace")
            if _STARTING in said:
                raise SparkLatencyError(f"{self._ui} is still starting up: try again.") from other
            raise SparkLatencyError(
                f"What answers at {self._ui} is no Spark UI. Give the address of a driver's UI "
                "(spark.ui.port, 4040 by default) or of a History Server (18080)."
            ) from other

    def _matching(self, applications: list[dict[str, Any]]) -> list[dict[str, Any]]:
        shown = "\n".join(f"  {app['id']}  {app['name']}" for app in applications) or "  none"
        matching = [app for app in applications if self._app in (None, app["id"], app["name"])]
        if not matching:
            raise SparkLatencyError(f"{self._ui} shows no application {self._app or ''}. It shows:\n{shown}")
        if len(matching) > 1:
            raise SparkLatencyError(f"{self._ui} shows several applications; name one by its id:\n{shown}")
        return matching

    def _get(self, path: str) -> str:
        try:
            with urlopen(f"{self._ui}{path}", timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310  checked to be HTTP
                text: str = response.read().decode()
        except HTTPError:
            raise
        except (URLError, OSError, HTTPException) as failed:
            reason = getattr(failed, "reason", failed)
            if isinstance(reason, TimeoutError):
                raise SparkLatencyError(
                    f"{self._ui} has not answered within {_TIMEOUT_SECONDS} s."
                ) from failed
            raise SparkLatencyError(
                f"Nothing answers at {self._ui}: {reason}. Does the application run, with its UI "
                "(spark.ui.enabled) at that address (spark.ui.port, 4040 by default)?"
            ) from failed
        return text

    def _explained(self, refused: HTTPError) -> SparkLatencyError:
        said = refused.read().decode(errors="replace").strip()
        if refused.code != HTTPStatus.NOT_FOUND:
            return SparkLatencyError(f"{self._ui} answers {refused.code} {refused.reason}: {said}")
        if said.startswith(_NO_FIGURES):
            return NoFiguresError(said)
        return SparkLatencyError(
            f"{self._ui} is a Spark UI without sparklatency. Start the application, or the History Server, "
            'with --jars "$(sparklatency jar)" (the History Server: in SPARK_DAEMON_CLASSPATH).'
        )


def _in_a_path(query: str) -> bool:
    """Tells whether Spark takes a name in a path: it refuses some characters however they are written."""
    return not set(query) & set("%/;\\")
