"""How long the part that leads takes, at least and at most, by what the pipeline itself has written down.

No bound is a wall time that a slow machine could pass: each is of pauses that were measured where they were
made, of timestamps that are known, or of when batches began and ended. Percentages of a whole are no bounds.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sparklatency.values.batches import Batch

Bounds = tuple[float, float]
"""In milliseconds."""

HOUR = 3_600_000
PITCH = 1000 / 20
"""From record to record, where a source makes twenty a second."""
ROUNDED = 5
"""How wrong a mean may be of times that are whole milliseconds, and come from several clocks."""
DIVIDED = 0.01
"""The same of what is divided by a histogram, as waits are: of the age."""


@dataclass(frozen=True)
class Pause:
    """That was made on purpose; times in milliseconds since the epoch."""

    what: str
    begun: float
    ended: float
    rows: int
    first: int
    """The least value among them."""

    @property
    def took(self) -> float:
        return self.ended - self.begun


def read_pauses(file: Path) -> list[Pause]:
    """Of all lines that are complete."""
    lines = file.read_text().split("\n")[:-1] if file.exists() else []
    return [Pause(**json.loads(line)) for line in lines]


@dataclass(frozen=True)
class Seen:
    """What there is to tell by."""

    batches: Sequence[Batch]
    """All of the run until the one whose parts are told."""
    age: float
    """Of its records at the commit."""
    pauses: Sequence[Pause]
    """Of that one, too."""
    folder: Path
    """The checkpoint."""
    wrote: Sequence[int]
    """When each file was written, by its number."""
    stretch: int = 1
    """How many times as old, or as late, records are made as a truth says."""

    @property
    def batch(self) -> Batch:
        return self.batches[-1]

    @property
    def before(self) -> Batch | None:
        found = self.batches[-2] if len(self.batches) > 1 else None
        return found if found is not None and found.batch == self.batch.batch - 1 else None

    def of(self, what: str) -> list[Pause]:
        return [pause for pause in self.pauses if pause.what == what and pause.rows]


Truth = Callable[[Seen], Bounds | None]
"""None where what has been written down does not tell it."""


def ms(at: datetime) -> float:
    return at.timestamp() * 1000


def looked(batch: Batch) -> int:
    """How long it asked its sources for how far they go."""
    return batch.durations.get("latestOffset", 0)


AFTER_THE_LOOK = ("walCommit", "getBatch", "queryPlanning", "addBatch", "commitOffsets")
"""What a batch does when it has asked its sources."""


def before_it_ran(batch: Batch) -> int:
    """How long at the most."""
    return batch.durations["triggerExecution"] - sum(batch.durations.get(one, 0) for one in AFTER_THE_LOOK)


def scored(seen: Seen) -> Bounds | None:
    """Every record waits while those beside it are scored, on average as long as tasks did. What else its
    task does meanwhile is divided among steps, so a third may be theirs; all is not longer than the batch."""
    calls = seen.of("row")
    if not calls:
        return None
    mean = sum(call.took * call.rows for call in calls) / sum(call.rows for call in calls)
    return mean * 2 / 3, ms(seen.batch.committed) - ms(seen.batch.start)


def one_by_one(seen: Seen) -> Bounds:
    """Each of two tasks has half of the rows, and those that have gone wait for the others of their batch."""
    return seen.batch.input_rows / 2 * 30 * 2 / 3, ms(seen.batch.committed) - ms(seen.batch.start)


def slept_behind(seen: Seen) -> Bounds | None:
    """All records wait while the sink sleeps, which begins when they have left the last node. None had left
    it before the first had been scored."""
    sleeps, calls = seen.of("sink"), seen.of("row")
    if not sleeps or not calls:
        return None
    committed = ms(seen.batch.committed)
    return sum(sleep.took for sleep in sleeps), committed - min(call.ended for call in calls)


def written(seen: Seen) -> Bounds | None:
    """The sink sleeps for each row, which has left the last node by then."""
    sleeps, calls = seen.of("sink"), seen.of("row")
    if not sleeps or not calls:
        return None
    committed = ms(seen.batch.committed)
    least = sum(committed - sleep.begun for sleep in sleeps) / len(sleeps)
    return least, committed - min(call.ended for call in calls)


def backlog(seen: Seen) -> Bounds | None:
    """All records were there when the first batch looked, and the one before the last left them behind."""
    first, before = seen.batches[0], seen.before
    if before is None or first.batch != 0:
        return None
    waited = ms(before.start) - ms(first.start)
    return waited - looked(first), waited + looked(before)


def newest(seen: Seen) -> Bounds:
    """When the last record came, of a source that makes them itself: it does so for whole seconds. Before it
    is asked some time goes that no phase of the batch has."""
    start = ms(seen.batch.start)
    return start - 1000 - PITCH, start + before_it_ran(seen.batch)


def trigger(seen: Seen) -> Bounds | None:
    """Records come one after another until the source looks. None waits for the trigger before the batch
    before is over."""
    if seen.before is None:
        return None
    start, rows = ms(seen.batch.start), seen.batch.input_rows
    over = ms(seen.before.start) + seen.before.durations["triggerExecution"]

    def mean(last: float) -> float:
        came = (last - place * PITCH for place in range(rows))
        return sum(max(0, start - max(at, over)) for at in came) / rows

    earliest, latest = newest(seen)
    error = DIVIDED * seen.age
    return mean(latest) - error, mean(earliest) + error


def an_hour_old(seen: Seen) -> Bounds:
    """Until a look of the source that found none of them, between the batch before and this one."""
    since = ms((seen.before or seen.batch).start)
    earliest, latest = (at - (seen.batch.input_rows - 1) / 2 * PITCH for at in newest(seen))
    return HOUR + since - latest, HOUR + ms(seen.batch.start) - earliest


def five_seconds_old(seen: Seen) -> Bounds | None:
    """A file came when no other was left, and was read as soon as the query looked: at once where the batch
    before was over, and else when that was. None where others had come before."""
    calls, before = seen.of("row"), seen.before
    if before is None or len(calls) != 1:
        return None
    came, look = seen.wrote[calls[0].first], 10 + 2 * looked(seen.batch)
    took = before.durations["triggerExecution"]
    since = ms(before.start)
    if came <= since + looked(before):
        return None
    # What a batch does after its end is not told: a tenth of it at the most, or a second.
    is_idle = came - look > since + took + min(took / 10, 1000)
    old = 5000 * seen.stretch
    return old - (look if is_idle else came - since), old + max(0, ms(seen.batch.start) - came)


def behind(seen: Seen) -> Bounds | None:
    """The records of a file are of when it came, and wait until the batch is over that had looked by then.
    None where it had not."""
    calls, before = seen.of("row"), seen.before
    if before is None or len(calls) != 1:
        return None
    came, since = seen.wrote[calls[0].first], ms(before.start)
    if came <= since + looked(before):
        return None
    waited = since + before.durations["triggerExecution"] - came
    error = DIVIDED * seen.age
    return waited - error, waited + error


def windowed(seen: Seen) -> Bounds | None:
    """Windows that the watermark has passed with this batch are out, and are dated by their end. They are
    older than the records that came in last by the delay, and by how far the watermark was behind."""
    came = next((batch for batch in reversed(seen.batches) if batch.input_rows), None)
    before = seen.before
    if before is None or came is None or before.watermark is None or seen.batch.watermark is None:
        return None
    since, until = int(ms(before.watermark)), int(ms(seen.batch.watermark))
    ends = range((since // 2000 + 1) * 2000, until + 1, 2000)
    greatest = came.watermarks[0].watermark
    if since <= 0 or not ends or greatest is None:
        return None
    mean = ms(greatest) + 8000 - (came.input_rows - 1) / 2 * PITCH
    older = mean - sum(ends) / len(ends)
    return older, older + (0 if came is seen.batch else ms(seen.batch.committed) - ms(came.start))


def joined(seen: Seen) -> Bounds | None:
    """Of a pair one is five seconds older, less what its source began later. Those that came in last are of
    both sources, each of which counts whole seconds when it is asked. From one to the other goes some time
    that no phase of the batch has."""
    if seen.before is None:
        return None
    left, right = (created(seen.folder / "sources" / side / "0") for side in ("0", "1"))
    apart = 1000 + before_it_ran(seen.before) + before_it_ran(seen.batch)
    waits = 5000 * seen.stretch + right - left
    return waits - apart, waits + apart


def created(file: Path) -> int:
    """When a source that makes its rows itself began."""
    return int(file.read_text().split()[-1])


def tell(truth: Truth, seen: Seen) -> Bounds | None:
    """The bounds, as wide as the figures that are held against them are rounded."""
    bounds = truth(seen)
    return None if bounds is None else (bounds[0] - ROUNDED, bounds[1] + ROUNDED)
