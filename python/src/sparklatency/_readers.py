"""Where figures are read: in the JVM of this process, or in another's by its UI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from sparklatency._gateway import session_api

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


class Reader(Protocol):
    """Reads the documents of one application."""

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of one query, by its name, its id or that of a run; or of all queries."""

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns the last batches of one query, oldest first."""


class JvmReader:
    """Reads by py4j."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of queries of the session.

        Raises:
            pyspark.errors.IllegalArgumentException: no query of that name or id has been measured.
            SparkLatencyError: the session is stopped, or has no jar that fits.
        """
        return self._read(session_api(self._session).latencyJson(self._session._jsparkSession, query))

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns batches; raises the same."""
        return self._read(session_api(self._session).historyJson(self._session._jsparkSession, query, limit))

    @staticmethod
    def _read(text: str) -> Mapping[str, Any]:
        document: dict[str, Any] = json.loads(text)
        return document
