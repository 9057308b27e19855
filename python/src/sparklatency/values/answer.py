"""What every surface says of a query, in the words of the JVM. Nothing here is computed in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Headline:
    """What makes records old: the part of their age that leads, and what makes it lead."""

    code: str
    """``slowest-step`` where work leads, else the ``code`` of the leading :class:`Part`; ``stalled`` where
    the batch in progress hangs; ``failed`` where an error ended the run before anything was measured;
    ``silent-source`` where nothing comes out because of one; ``one-node`` where there is no choice;
    ``unknown`` before anything was measured."""
    node: str | None
    """The step that is the cause; None where no step is."""
    own: float | None
    """The mean time of the leading part, in milliseconds. Where parts are unknown, that of the slowest
    step."""
    whole: float | None
    """The time that all parts take: the mean age at the commit, where none is negative. Where parts are
    unknown, the time of all steps on the critical path."""
    share: float | None
    """The leading part of the whole, between 0 and 1."""
    text: str
    """The same as a sentence, with what to do."""


@dataclass(frozen=True)
class Part:
    """A part of the age of records, or several that cannot be told apart."""

    names: tuple[str, ...]
    code: str
    """``arrived-old``, ``backlog``, ``waited-for-the-batch-before``, ``waited-for-the-trigger``,
    ``start-of-the-batch``, ``work``, ``waited-in-state`` or ``commit``; ``source-queuing`` and ``processing``
    where no batch tells more."""
    nodes: tuple[str, ...]
    """Whose part it is: of work, and of waiting in state. Empty where no node stands for it."""
    ms: float
    """How long it takes on average. Negative where younger records come out than those that came in."""
    share: float
    """Its part of the whole, between 0 and 1."""
    text: str


@dataclass(frozen=True)
class Parts:
    """The mean age of records when their results could be seen, in parts, of the last batch that tells."""

    whole: float | None
    text: str | None
    """The same as a sentence; None where nothing is known."""
    of: tuple[Part, ...]
    """One after another, as records go."""


@dataclass(frozen=True)
class Activity:
    """What a query does right now, as its driver sees it."""

    batch: int
    """The number of the batch that runs, or is to come."""
    doing: str
    """Spark's own words."""
    has_data: bool
    """Whether there are records that the batch is to read and has not committed."""
    tasks_done: int | None
    tasks_running: int | None
    tasks: int | None
    """Of the jobs that run; None between jobs, and in real-time and continuous mode."""


@dataclass(frozen=True)
class Progress:
    """How a run of a query goes; durations in milliseconds, None where unknown."""

    since_commit: int | None
    """How long ago the last batch was committed."""
    running: int | None
    """For how long the batch in progress has run; None while it goes on for as long as it is set to."""
    since_progress: int | None
    """For how long no task of that batch has taken a record or ended, as far as is known."""
    oldest_uncommitted: int | None
    """Age of the oldest record that was there to be read and is not committed, at least."""
    records_lag: int | None
    """How many records the last trigger left at its sources; None where none of them tells it."""
    dropped_late: int | None
    """How many rows the query's operators have dropped as late since it began, as Spark counts them."""
    tasks_failed: int | None
    """How many attempts of tasks have failed since it began: Spark runs such a task again."""
    watermark_lag: int | None
    """How far the watermark is behind the clock: now where the run goes on, else at the last commit."""
    usually: int | None
    """From one commit to the next: the median of the last ten."""
    batch_duration: int | None
    """How long a batch takes: the median of the last ten; None in real-time and continuous mode."""
    stalled: bool
    """Whether the batch in progress takes much longer than usual, and its tasks stand still."""
    error: str | None
    """The first line of what ended the run."""
    text: str | None
    """The same as a sentence."""
    activity: Activity | None
    """None where the run has ended, or this is not its driver."""


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
