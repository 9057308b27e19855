"""Draws where a watermark by event time and one by the clock stand, while orders come and after the last one.

`python silence.py silence.svg` runs both for a minute and a half.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sparklatency import configure, latency, with_system_time_watermark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql.streaming.query import StreamingQuery

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "sparklatency"  # the same picture has the same ids
from matplotlib import pyplot as plt  # noqa: E402

SPEAKS, SILENT = 30, 30
"""Seconds in which orders come, and then no more."""
LAG = "5 seconds"
WINDOW = "10 seconds"
BY_EVENTS, BY_CLOCK = "by event time", "by the clock"
COLOURS = {BY_EVENTS: "#b3541e", BY_CLOCK: "#1f6feb"}


class Windows:
    """A query that counts orders in windows, and when it gave each out."""

    def __init__(self, name: str, orders: DataFrame, checkpoint: Path) -> None:
        self.given: list[tuple[datetime, datetime]] = []
        """Of each window the moment and its end."""
        counts = orders.groupBy(F.window("placed", WINDOW)).count()
        ends = counts.select(F.unix_seconds("window.end").alias("end"))
        writer = ends.writeStream.queryName(name).foreachBatch(self._take)
        self.query: StreamingQuery = (
            writer.option("checkpointLocation", str(checkpoint / name))
            .trigger(processingTime="1 second")
            .start()
        )

    def _take(self, batch: DataFrame, _: int) -> None:
        ends = [datetime.fromtimestamp(row["end"], UTC) for row in batch.collect()]
        self.given += [(datetime.now(UTC), end) for end in ends]


def run(folder: Path) -> tuple[datetime, dict[str, Windows], dict[str, list[tuple[datetime, datetime]]]]:
    """Returns the last order's time, both queries, and where their watermarks stood when."""
    spark = _session()
    inbox = folder / "orders"
    inbox.mkdir()
    orders = spark.readStream.schema("placed TIMESTAMP").json(str(inbox))
    watermarked: dict[str, Callable[[], DataFrame]] = {
        BY_EVENTS: lambda: orders.withWatermark("placed", LAG),
        BY_CLOCK: lambda: with_system_time_watermark(orders, "placed", LAG),
    }
    _order(inbox)  # with it the first batches of both, in which classes load
    queries = {name: Windows(name, made(), folder) for name, made in watermarked.items()}
    for windows in queries.values():
        while not any(progress["numInputRows"] for progress in windows.query.recentProgress):
            time.sleep(0.1)
    until = time.monotonic() + SPEAKS
    while time.monotonic() < until:
        last = _order(inbox)
        time.sleep(0.5)
    time.sleep(SILENT)
    stood = {name: list(_watermarks(name)) for name in queries}
    for windows in queries.values():
        while windows.query.status[
            "isTriggerActive"
        ]:  # in mid-batch the function of foreachBatch would break off
            time.sleep(0.01)
        windows.query.stop()
    spark.stop()
    return last, queries, stood


def draw(
    file: str,
    last: datetime,
    queries: dict[str, Windows],
    stood: dict[str, list[tuple[datetime, datetime]]],
) -> None:
    """A line for each watermark over the clock, a dot for each window when it was given out."""
    begin, end = last - timedelta(seconds=SPEAKS), last + timedelta(seconds=SILENT)

    def place(moment: datetime) -> float:
        return (moment - begin).total_seconds()

    figure, axes = plt.subplots(figsize=(9, 5))
    axes.axvspan(place(last), place(end), color="#8882", label="no order comes")
    axes.plot([0, place(end)], [0, place(end)], color="#888", linestyle=":", label="the clock")
    for name in queries:
        seen = [(place(at), place(watermark)) for at, watermark in stood[name]]
        seen = [(at, watermark) for at, watermark in seen if at >= 0]
        steps = [*seen, (place(end), seen[-1][1])]
        axes.step(*zip(*steps, strict=True), where="post", color=COLOURS[name], label=f"watermark {name}")
    for name, windows in queries.items():
        given = [(place(at), place(closed)) for at, closed in windows.given if at >= begin]
        axes.scatter(
            *zip(*given, strict=True), color=COLOURS[name], zorder=3, label=f"a window is given out, {name}"
        )
    axes.set(xlabel="clock, s", ylabel="event time, s", xlim=(0, place(end)), ylim=(0, place(end)))
    axes.legend(loc="upper left", frameon=False)
    axes.grid(alpha=0.2)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def _order(inbox: Path) -> datetime:
    now = datetime.now(UTC)
    hidden = inbox / f".{now.timestamp()}"
    hidden.write_text(json.dumps({"placed": now.isoformat()}))
    hidden.rename(inbox / f"{now.timestamp()}.json")
    return now


def _watermarks(name: str) -> Iterator[tuple[datetime, datetime]]:
    for batch in latency(name).history():
        if batch.watermark is not None:
            yield batch.start, batch.watermark


def _session() -> SparkSession:
    settings: dict[str, Any] = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sparklatency.auto": "source",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = configure(SparkSession.builder.master("local[2]").config(map=settings)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        draw(sys.argv[1], *run(Path(scratch)))
