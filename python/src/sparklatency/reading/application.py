"""The figures of one application, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sparklatency.reading import documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparklatency.values.batches import Batch
    from sparklatency.values.queries import EarlierRun, QueryLatency


class Documents(Protocol):
    """Reads the JSON of one application."""

    def queries(self, query: str | None = None) -> Mapping[str, Any]:
        """Returns the figures of one query, by its name, its id or that of a run; or of all queries."""

    def history(self, query: str, limit: int) -> Mapping[str, Any]:
        """Returns the last batches of one query, oldest first."""


class Application:
    """Reads an application's figures from its documents, and raises what they raise."""

    def __init__(self, of: Documents) -> None:
        self._documents = of

    def queries(self, query: str | None = None) -> tuple[tuple[QueryLatency, ...], tuple[EarlierRun, ...]]:
        """Returns one query, or the newest run of each query and the runs before them."""
        document = self._documents.queries(query)
        return documents.queries(document, self), documents.earlier_runs(document)

    def batches(self, query: str, limit: int) -> tuple[Batch, ...]:
        """Returns the last batches of a run, or of the newest run of a query, oldest first."""
        return documents.batches(self._documents.history(query, limit))
