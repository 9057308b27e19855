"""Reading the figures of this process's own JVM."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sparklatency.binding.gateway import reaching_jvm, session_api
from sparklatency.errors import NoFiguresError, SparkLatencyError
from sparklatency.words import NO_FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


class JvmReader:
    """Reads by py4j.

    Copies read the same session. In another process there is none: what is pickled loses it.
    """

    def __init__(self, session: SparkSession | None) -> None:
        self._session = session

    def __deepcopy__(self, _copied: object) -> JvmReader:
        return self

    def __reduce__(self) -> tuple[type, tuple[None]]:
        return JvmReader, (None,)

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of queries of the session.

        Raises:
            NoFiguresError: no query of that name or id has been measured.
            SparkLatencyError: the session is stopped or its JVM has gone, it has no jar that fits or a
                setting that is not valid, or this reader was pickled.
        """
        return self._read("latencyJson", query)

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns batches; raises the same."""
        return self._read("historyJson", query, limit)

    def _read(self, method: str, *arguments: object) -> Mapping[str, Any]:
        if self._session is None:
            raise SparkLatencyError("These figures were pickled, and lost their session. Read them anew.")
        from pyspark.errors import IllegalArgumentException

        try:
            with reaching_jvm():
                text = getattr(session_api(self._session), method)(self._session._jsparkSession, *arguments)
        except IllegalArgumentException as refused:
            said = str(refused)
            if said.startswith(NO_FIGURES):
                raise NoFiguresError(said) from refused
            # A setting that is not valid: without the plugin nobody has read it before.
            raise SparkLatencyError(said) from refused
        document: dict[str, Any] = json.loads(text)
        return document
