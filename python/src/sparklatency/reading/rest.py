"""Reading an application's figures by the UI of its driver, or of a History Server."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from ipaddress import ip_address
from ssl import SSLCertVerificationError, SSLEOFError, SSLError, SSLZeroReturnError
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

from sparklatency.binding.gateway import PLUGIN
from sparklatency.errors import NoFiguresError, SparkLatencyError
from sparklatency.reading import documents
from sparklatency.words import NO_FIGURES, cut, name, names, value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_TIMEOUT_SECONDS = 30
"""The first question makes a driver start its REST service, which takes seconds on a busy machine."""
_MOST_APPLICATIONS = 20
"""A History Server may know thousands."""
_STARTING = "Spark is starting up"
_NO_APPLICATION = "no such app"
"""How Spark begins what it says of an application that is not there, or no more."""
_IN_A_PATH = re.compile(r"[A-Za-z0-9._~-]+")
"""Names that stand there as they are. Of what is escaped Spark refuses some, and a master that is a proxy
before the UI undoes the rest. Dots alone lead elsewhere."""
_IN_A_URL = re.compile(r"[!-~]+")
"""Not a blank, which is taken out of one place of a URL and refused in another."""


class RestReader:
    """Reads one application over HTTP. It is looked for at the first question.

    Args:
        url: of the UI, such as ``http://driver:4040``; what a proxy puts before the UI's own paths is kept.
        app: id or name of the application, where the UI shows several.

    Raises:
        ValueError: the URL is none of HTTP, or has a user, a password, a query or a fragment.
    """

    def __init__(self, url: str, app: str | None = None) -> None:
        url = url.strip()  # what is read from a file ends with its line
        fits = _is_http(url)
        # A URL that cannot be read may have a password anywhere, which no message shows.
        if "@" in (urlsplit(url).netloc if fits else url):
            raise ValueError(
                "No user or password is sent. Write the URL without them, like http://driver:4040."
            )
        if "?" in url or "#" in url:  # which may be a token, and is not shown either
            raise ValueError("Leave out what begins with ? or #. Write the URL like http://driver:4040.")
        if not fits:
            raise ValueError(f"{value(url)} is not the URL of a Spark UI. Write it like http://driver:4040.")
        self._ui = url.rstrip("/")
        self._app = app
        self._found: _Shown | None = None

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of queries.

        Raises:
            NoFiguresError: no query of that name or id has been measured.
            SparkLatencyError: nothing answers at the URL, or no Spark; it does not show that application, or
                several; the application has no sparklatency.
        """
        if query is None:
            return self._queries("")
        if query.strip(".") and _IN_A_PATH.fullmatch(query):
            return self._queries(f"/queries/{query}")
        return self._listed(query)

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns batches; raises the same."""
        path = f"/queries/{quote(query, safe='')}/batches?{urlencode({'limit': limit})}"
        return self._latency(path, "batches")

    def spark_version(self) -> str:
        """Returns the version of Spark that the application runs on, such as ``4.2.0``; raises the same.

        A History Server may be of another.
        """
        return self._application().spark

    def settings(self) -> Mapping[str, str]:
        """Returns the settings of the application, secrets hidden; raises the same."""
        path = f"{self._application().path}/environment"
        return self._spark(path, lambda said: dict(said["sparkProperties"]))

    def _listed(self, query: str) -> Mapping[str, Any]:
        """Returns a query whose name cannot be in a path, from the list; an earlier run by its run id."""
        everything = self._queries("")
        with documents.of_this_version():
            for one in everything["queries"]:
                if query in (one["query"], one["id"], one["run"]):
                    return {"queries": [one], "earlierRuns": []}
            earlier = [run["run"] for run in everything["earlierRuns"] if query in (run["query"], run["id"])]
            known = names(repr(one["query"]) for one in everything["queries"])
        if earlier:
            return self._queries(f"/queries/{quote(earlier[0], safe='')}")
        raise NoFiguresError(f"{NO_FIGURES} {value(query)}; there are figures of {known}")

    def _queries(self, path: str) -> Mapping[str, Any]:
        return self._latency(path, "queries", "earlierRuns")

    def _latency(self, path: str, *lists: str) -> Mapping[str, Any]:
        """Returns a document of ours, which has these lists of objects."""
        is_known = self._found is not None
        try:
            text = self._get(f"{self._application().path}/latency{path}")
            document: Mapping[str, Any] = json.loads(text)
            if not all(isinstance(one, dict) for of in lists for one in document[of]):
                raise TypeError
        except HTTPError as refused:
            said = _body(refused)
            if said.startswith(_NO_APPLICATION):
                if not is_known:
                    raise self._not_shown(said) from refused
                self._found = None  # another application has its address by now
                return self._latency(path, *lists)
            raise self._explained(refused, said) from refused
        except (LookupError, TypeError, ValueError) as unreadable:
            raise SparkLatencyError(
                f"{self._ui} answers, but with no figures of sparklatency."
            ) from unreadable
        return document

    def _application(self) -> _Shown:
        if self._found is None:
            self._found = self._matching(self._spark("/api/v1/applications", _shown))
        elif self._found.has_attempts:  # there may be a newer one by now
            try:
                app = json.loads(self._get(f"/api/v1/applications/{quote(self._found.id)}"))
                [self._found] = _shown([app])
            except (HTTPError, LookupError, TypeError, ValueError):  # gone, or another has its address
                self._found = None
                return self._application()
        return self._found

    def _spark(self, path: str, made: Callable[[Any], T]) -> T:
        """Returns what is made of the JSON of Spark's own REST."""
        said = ""
        try:
            said = self._get(path)
            return made(json.loads(said))
        except (HTTPError, AttributeError, LookupError, TypeError, ValueError) as other:
            refused = other if isinstance(other, HTTPError) else None
            if refused:
                said = _body(refused)
            if _STARTING in said:
                raise SparkLatencyError(f"{self._ui} is still starting up. Try again.") from other
            if refused and said.startswith(_NO_APPLICATION):
                raise self._not_shown(said) from other
            if refused and refused.code != HTTPStatus.NOT_FOUND:
                raise self._refusal(refused, said) from other
            raise SparkLatencyError(
                f"What answers at {self._ui} is not a Spark UI. {self._without_path()}Give the address of a "
                "driver's UI (spark.ui.port, 4040 by default) or of a History Server (18080)."
            ) from other

    def _without_path(self) -> str:
        """What may be meant by the address of a page of the UI."""
        parts = urlsplit(self._ui)
        return f"Is it {parts.scheme}://{parts.netloc}? " if parts.path else ""

    def _matching(self, applications: list[_Shown]) -> _Shown:
        matching = [app for app in applications if self._app in (None, app.id, app.name)]
        if len(matching) == 1:
            return matching[0]
        meant = "" if self._app is None else f" {name(self._app) or repr(self._app)}"
        if not matching:
            shown = _list(applications)
            raise SparkLatencyError(f"{self._ui} shows no application{meant}. It shows:\n{shown}")
        several = f"several applications named{meant}" if meant else "several applications"
        raise SparkLatencyError(f"{self._ui} shows {several}. Name one by its id:\n{_list(matching)}")

    def _get(self, path: str) -> str:
        try:
            with self._open(path) as response:
                text: str = response.read().decode()
        except HTTPError:
            raise
        except (URLError, OSError, HTTPException) as failed:
            # An error of TLS has a reason as well: a word.
            reason = failed.reason if isinstance(failed, URLError) else failed
            if isinstance(reason, TimeoutError):
                raise SparkLatencyError(
                    f"{self._ui} has not answered within {_TIMEOUT_SECONDS} s. Try again: a History Server "
                    "reads the event log first, and goes on with that."
                ) from failed
            if isinstance(reason, SSLCertVerificationError):
                raise SparkLatencyError(
                    f"The certificate of {self._ui} is not trusted here: {reason.verify_message}. "
                    "Name a file that has it, or the one of its authority, in SSL_CERT_FILE."
                ) from failed
            if isinstance(reason, SSLError) and "ALERT" in (reason.reason or ""):
                raise SparkLatencyError(
                    f"{self._ui} ends the TLS handshake: {cut(str(reason))}. "
                    "It may ask for a certificate of the client, and none is sent, or for another TLS."
                ) from failed
            # Who says nothing at all may speak anything: a tunnel, say, whose other end is gone.
            is_mute = isinstance(reason, RemoteDisconnected | SSLEOFError | SSLZeroReturnError)
            if not is_mute and isinstance(reason, SSLError | BadStatusLine):
                meant, other = ("HTTPS", "http") if self._ui.startswith("https") else ("HTTP", "https")
                raise SparkLatencyError(
                    f"What answers at {self._ui} does not speak {meant}: {cut(str(reason))}. Is it {other}://?"
                ) from failed
            raise SparkLatencyError(
                f"Nothing answers at {self._ui}: {reason}. Does the application run? "
                "Is its UI on (spark.ui.enabled), at that address (spark.ui.port, 4040 by default)?"
            ) from failed
        return text

    def _open(self, path: str) -> Any:
        # urllib asks the environment's proxy for this machine, too, where no_proxy does not name it.
        proxies = [ProxyHandler({})] if _is_here(urlsplit(self._ui).hostname or "") else []
        return build_opener(*proxies).open(f"{self._ui}{path}", timeout=_TIMEOUT_SECONDS)

    def _explained(self, refused: HTTPError, said: str) -> SparkLatencyError:
        if refused.code != HTTPStatus.NOT_FOUND:
            return self._refusal(refused, said)
        if said.startswith(NO_FIGURES):  # any other 404 tells of no sparklatency
            return NoFiguresError(said)
        return SparkLatencyError(
            f"{self._ui} is a Spark UI without sparklatency. Start the application with "
            f'--jars "$(sparklatency jar)" --conf spark.plugins={PLUGIN}. Without the plugin, Spark 4.1 and '
            "older have it only after it was first used, and only if all its settings are valid: else the "
            "driver's log names the one that is not. "
            "A History Server takes the jar in SPARK_DAEMON_CLASSPATH."
        )

    def _not_shown(self, said: str) -> SparkLatencyError:
        return SparkLatencyError(
            f"{self._ui} lists the application but cannot show it: {cut(said)}. "
            "If it is a History Server that cannot read the event log, its own log says why."
        )

    def _refusal(self, refused: HTTPError, said: str) -> SparkLatencyError:
        why = f": {cut(said, 300)}" if said else "."
        return SparkLatencyError(f"{self._ui} answers {refused.code} {refused.reason}{why}")


@dataclass(frozen=True)
class _Shown:
    """An application that a UI shows."""

    id: str
    name: str
    path: str
    """Where its figures are, with its newest attempt where it has several."""
    spark: str
    """The version of Spark that it runs on."""
    has_attempts: bool


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  which is read only here, and may be none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bool(_IN_A_URL.fullmatch(url))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _list(applications: list[_Shown]) -> str:
    lines = [f"  {app.id}  {name(app.name)}" for app in applications[:_MOST_APPLICATIONS]]
    more = len(applications) - len(lines)
    return "\n".join(lines + ([f"  and {more:,} more"] if more else [])) or "  none"


def _shown(applications: Any) -> list[_Shown]:
    if not isinstance(applications, list):
        raise TypeError
    return [_of_newest_attempt(app, attempts[0]) for app in applications if (attempts := app["attempts"])]


def _of_newest_attempt(app: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Shown:
    number = attempt.get("attemptId")
    path = f"/api/v1/applications/{quote(app['id'])}" + (f"/{number}" if number else "")
    return _Shown(str(app["id"]), str(app["name"]), path, str(attempt["appSparkVersion"]), bool(number))


def _body(refused: HTTPError) -> str:
    try:
        return refused.read().decode(errors="replace").strip()
    except (OSError, HTTPException):  # who refuses need not end the sentence
        return ""
