"""A pipeline with one slow step, watched while it runs.

Files that fall into a folder, a window aggregation, a slow Python function and a sink that drops everything,
marked at the source, after the window and before the sink. It needs no network and leaves nothing behind.

Records come in bursts: the next one when the one before has been worked off. So no record waits for the batch
before, however busy the machine is, and what takes the time is the function.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from sparklatency.binding.jars import jar_path
from sparklatency.binding.marking import with_e2e_latency
from sparklatency.binding.session import configure
from sparklatency.errors import SparkLatencyError
from sparklatency.rendering import queries as rendering
from sparklatency.rendering import terminal
from sparklatency.view import Latency, latency
from sparklatency.words import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

INTERRUPTED = 130
_NAME = "demo"
_WINDOW_SECONDS = 20
_PLAIN_EVERY_SECONDS = 5
_FIRST_WITHIN_SECONDS = 90
_PICTURE_WIDTH = 90
_KEYS = 12
_SLOW_SECONDS_PER_ROW = 0.35
"""Of a burst there is a row for each key, and two partitions share them."""

_LOGGING = """\
status = error
rootLogger.level = error
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex{3}
"""


def run(seconds: int, rate: int, svg: Path | None = None, console: Console | None = None) -> int:
    """Runs the pipeline for some seconds, shows its figures, and names the slow step.

    Args:
        seconds: how long, counted from the first figures; Spark takes some seconds to start.
        rate: records in a burst.
        svg: where to leave a picture of the last figures; none is left when nothing was measured.
        console: where to; a terminal gets a live table, anything else plain lines.

    Returns:
        An exit code: 0 done, 1 nothing was measured, 130 interrupted.

    Raises:
        SparkLatencyError: pyspark is missing, no jar fits it, or the query failed.
    """
    console = console or terminal.console(soft_wrap=True)
    jar_path()
    console.print("Starting Spark …")
    with TemporaryDirectory(prefix="sparklatency-demo-", ignore_cleanup_errors=True) as scratch:
        try:
            folder = Path(scratch, "events")
            folder.mkdir()
            spark = _session(Path(scratch))
        except KeyboardInterrupt:
            return INTERRUPTED
        interrupted = _interrupt_as_event()
        try:
            query = start(spark, folder)
            console.print(_where_to_look(spark))
            readings = _readings(query, seconds, _Bursts(folder, rate), interrupted)
            show = show_live if console.is_interactive else show_lines
            figures = show(readings, seconds, console)
            spark.sparkContext.setLogLevel("OFF")  # what breaks off with the last batch is no error
            query.stop()
        finally:
            spark.stop()
    console.print(f"\n{summary(figures)}", markup=False)
    if svg is not None and names_a_step(figures):
        svg.write_text(picture(figures), encoding="utf-8")
    if interrupted.is_set():
        return INTERRUPTED
    return 0 if names_a_step(figures) else 1


def start(spark: SparkSession, folder: Path) -> StreamingQuery:
    """Starts the pipeline. A window is as old as its newest record, and all of a burst are of one age."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import LongType

    def rate_events(events: int) -> int:
        time.sleep(_SLOW_SECONDS_PER_ROW)
        return 4 * events

    slow = F.udf(rate_events, LongType(), useArrow=False)  # pyarrow may be absent
    events = spark.readStream.schema("timestamp TIMESTAMP, value LONG").json(str(folder))
    measured = events.where("value >= 0").withWatermark("timestamp", "2 seconds")
    source = with_e2e_latency(measured, "source")
    windows = source.groupBy(F.window("timestamp", "250 milliseconds"), F.col("value") % _KEYS).agg(
        F.count("*").alias("events"), F.max("timestamp").alias("newest")
    )
    windowed = with_e2e_latency(windows, "windowed", timestamp="newest")
    rated = windowed.withColumn("events_per_second", slow("events"))
    sink = with_e2e_latency(rated, "sink", timestamp="newest")
    return sink.writeStream.queryName(_NAME).outputMode("update").format("noop").start()


def names_a_step(figures: Latency) -> bool:
    """Tells whether the slow step is known."""
    return any(query.headline.code == "slowest-step" for query in figures.queries)


def summary(figures: Latency) -> str:
    """Returns the last figures, and at its end the slow step."""
    return f"{figures}\n\n{_verdict(figures)}" if figures.queries else _verdict(figures)


def picture(figures: Latency) -> str:
    """Returns the last figures as an SVG, with the table as a terminal shows it."""
    console = Console(
        record=True, file=io.StringIO(), width=_PICTURE_WIDTH, force_terminal=False, force_jupyter=False
    )
    console.print(rendering.tables(figures.queries))
    return console.export_svg(title="sparklatency demo", unique_id="sparklatency-demo")


def _verdict(figures: Latency) -> str:
    return "\n".join(query.headline.text for query in figures.queries) or NOTHING


class _Bursts:
    """Files of records, one at a time.

    The first has a record that is left out before it is measured: it makes Spark load its classes.
    """

    def __init__(self, folder: Path, rate: int) -> None:
        self._folder, self._rate, self._sent = folder, rate, 0
        self._leave(range(-1, 0))

    def follow(self, figures: Latency) -> None:
        """Sends the next burst if the last one has been worked off."""
        if sum(query.batches for query in figures.queries) > self._sent:
            self._leave(range(self._sent * self._rate, (self._sent + 1) * self._rate))
            self._sent += 1

    def _leave(self, values: range) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        lines = (json.dumps({"timestamp": now, "value": value}) for value in values)
        hidden = self._folder / f".{values.start}.json"
        hidden.write_text("\n".join(lines), encoding="utf-8")
        hidden.rename(self._folder / f"{values.start}.json")  # whole at once


def _session(scratch: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging = scratch / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="utf-8")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()}",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(scratch),
        "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
        "spark.metrics.namespace": _NAME,
        "spark.sparklatency.sample.window": f"{_WINDOW_SECONDS // 2}s",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.checkpointLocation": str(scratch / "checkpoint"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("sparklatency demo").config(map=dict(settings))
    return configure(builder).getOrCreate()


def _where_to_look(spark: SparkSession) -> str:
    pid = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    return (
        f"Spark UI: {spark.sparkContext.uiWebUrl}\n"
        f"JMX:      jconsole {pid}, tab MBeans, domain metrics, e.g.\n"
        f"          metrics:name={_NAME}.driver.sparklatency.query.{_NAME}.node.sink.record-e2e-latency-max,"
        "type=gauges\n"
        f"Latencies cover the last {_WINDOW_SECONDS} seconds.\n"
    )


def _readings(
    query: StreamingQuery, seconds: int, bursts: _Bursts, interrupted: threading.Event
) -> Iterator[tuple[float, Latency]]:
    """Yields the figures twice a second, and the seconds since the first known ones, until time is up."""
    first: float | None = None
    give_up = time.monotonic() + _FIRST_WITHIN_SECONDS
    while not interrupted.wait(0.5):
        if (failure := query.exception()) is not None:
            raise SparkLatencyError(f"The query of the demo failed: {failure}") from failure
        now, figures = time.monotonic(), latency(query)
        bursts.follow(figures)
        if first is None and names_a_step(figures):
            first = now
        yield 0.0 if first is None else now - first, figures
        if now >= (give_up if first is None else first + seconds):
            return


def show_live(readings: Iterator[tuple[float, Latency]], seconds: int, console: Console) -> Latency:
    """Draws the figures again and again; returns the last."""
    figures = Latency(())
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        for elapsed, figures in readings:
            clock = Text(f"\n{min(elapsed, seconds):.0f} of {seconds} s")
            live.update(Group(rendering.tables(figures.queries), clock))
    return figures


def show_lines(readings: Iterator[tuple[float, Latency]], _seconds: int, console: Console) -> Latency:
    """Prints each node's figures now and then, unless they are what was printed before; returns the last."""
    figures = Latency(())
    due = 0.0
    printed: dict[str, str] = {}
    for elapsed, figures in readings:
        if elapsed >= due and (due or names_a_step(figures)):
            due = elapsed + _PLAIN_EVERY_SECONDS
            lines = {node.node: rendering.line(node) for node in figures.nodes}
            for node in (node for node, line in lines.items() if line != printed.get(node)):
                console.print(f"{elapsed:3.0f} s  {lines[node]}", markup=False)
            printed = lines
    return figures


def _interrupt_as_event() -> threading.Event:
    """Makes the first Ctrl-C an event, so that it breaks no call into the JVM; a second is as usual."""
    interrupted = threading.Event()

    def handle(_signal: int, _frame: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, handle)
    return interrupted
