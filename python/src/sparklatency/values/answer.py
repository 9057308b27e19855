"""What every surface says of a query, in the words of the JVM. Nothing here is computed in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Headline:
    """Which step takes most of the time."""

    code: str
    """``slowest-step``; ``one-node`` where there is no choice; ``unknown`` before anything was measured."""
    node: str | None
    own: float | None
    """The mean time that the step takes, in milliseconds."""
    whole: float | None
    """The time of all steps on the critical path."""
    share: float | None
    """The step's part of the whole, between 0 and 1."""
    text: str
    """The same as a sentence."""


@dataclass(frozen=True)
class Part:
    """A part of the way of records, or several that cannot be told apart."""

    names: tuple[str, ...]
    ms: float
    """How long it takes on average."""
    share: float
    """Its part of the whole, between 0 and 1."""
    text: str


@dataclass(frozen=True)
class Parts:
    """The mean age of records when their results could be seen, in parts; of each node's last batch."""

    whole: float | None
    text: str | None
    """The same as a sentence; None where nothing is known."""
    of: tuple[Part, ...]
    """One after another, as records go."""


@dataclass(frozen=True)
class Note:
    """Something else that one should know to read the figures."""

    code: str
    """Which note it is, such as ``without-timestamp``."""
    level: str
    """``info``, ``warn`` or ``wrong``."""
    node: str | None
    numbers: Mapping[str, float]
    text: str
    """The note as a sentence."""
