"""A pipeline with one slow step, watched while it runs.

Spark's rate source, a window aggregation, a slow Python function and a sink that drops everything, marked
at the source, after the window and before the sink. It needs no network and leaves nothing behind.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from sparklatency import render
from sparklatency._jar import jar_path
from sparklatency.errors import SparkLatencyError
from sparklatency.marking import with_e2e_latency
from sparklatency.session import configure
from sparklatency.view import Latency, latency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.figures import NodeLatency
    from sparklatency.nodes import Nodes

INTERRUPTED = 130
_NAME = "demo"
_WINDOW_SECONDS = 20
_PLAIN_EVERY_SECONDS = 5
_FIRST_WITHIN_SECONDS = 90
_PICTURE_WIDTH = 90
_SLOW_SECONDS_PER_ROW = 0.06

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
        rate: records a second.
        svg: where to leave a picture of the last figures; none is left when nothing was measured.
        console: where to; a terminal gets a live table, anything else plain lines.

    Returns:
        An exit code: 0 done, 1 nothing was measured, 130 interrupted.

    Raises:
        SparkLatencyError: pyspark is missing, no jar fits it, or the query failed.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    jar_path()
    console.print("Starting Spark …")
    with TemporaryDirectory(prefix="sparklatency-demo-", ignore_cleanup_errors=True) as scratch:
        try:
            spark = _session(Path(scratch))
        except KeyboardInterrupt:
            return INTERRUPTED
        interrupted = _interrupt_as_event()
        try:
            query = start(spark, rate)
            console.print(_where_to_look(spark))
            figures = _watch(query, seconds, interrupted, console)
            spark.sparkContext.setLogLevel("OFF")  # what breaks off with the last batch is no error
            query.stop()
        finally:
            spark.stop()
    console.print(f"\n{summary(figures)}", markup=False)
    if svg is not None and slow_step(figures.nodes):
        svg.write_text(picture(figures), encoding="utf-8")
    if interrupted.is_set():
        return INTERRUPTED
    return 0 if slow_step(figures.nodes) else 1


def start(spark: SparkSession, rate: int) -> StreamingQuery:
    """Starts the pipeline.

    A window is as old as its newest record. The windows are short, so that this hides little of its latency.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import LongType

    def rate_events(events: int) -> int:
        time.sleep(_SLOW_SECONDS_PER_ROW)
        return 4 * events

    slow = F.udf(rate_events, LongType(), useArrow=False)  # pyarrow may be absent
    events = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
    source = with_e2e_latency(events.withWatermark("timestamp", "2 seconds"), "source")
    windows = source.groupBy(F.window("timestamp", "250 milliseconds"), F.col("value") % 3).agg(
        F.count("*").alias("events"), F.max("timestamp").alias("newest")
    )
    windowed = with_e2e_latency(windows, "windowed", timestamp="newest")
    rated = windowed.withColumn("events_per_second", slow("events"))
    sink = with_e2e_latency(rated, "sink", timestamp="newest")
    return sink.writeStream.queryName(_NAME).outputMode("update").format("noop").start()


def slow_step(nodes: Nodes[NodeLatency]) -> tuple[NodeLatency, NodeLatency] | None:
    """Returns the two neighbours between which the median grows most; None while it is unknown."""
    measured = [node for node in nodes if node.p50 is not None]
    return max(pairwise(measured), key=_increase, default=None)


def summary(figures: Latency) -> str:
    """Returns the last figures and what follows from them."""
    return f"{figures}\n\n{_verdict(figures)}" if slow_step(figures.nodes) else _verdict(figures)


def picture(figures: Latency) -> str:
    """Returns the same as an SVG, with the table as a terminal shows it."""
    console = Console(
        record=True, file=io.StringIO(), width=_PICTURE_WIDTH, force_terminal=False, force_jupyter=False
    )
    console.print(render.tables(figures.queries), Text(f"\n{_verdict(figures)}"), sep="\n")
    return console.export_svg(title="sparklatency demo", unique_id="sparklatency-demo")


def _verdict(figures: Latency) -> str:
    step = slow_step(figures.nodes)
    if step is None:
        return "The figures of fewer than two nodes are known, so no step can be called slow."
    upstream, node = step
    before, after = render.milliseconds(upstream.p50), render.milliseconds(node.p50)
    return (
        f"The slow node is {render.name(node.node)}: on the way to it from {render.name(upstream.node)} "
        f"the median latency grows by {_increase(step):,} ms, from {before} to {after} ms.{_waiting(figures)}"
    )


def _waiting(figures: Latency) -> str:
    """Returns why records are old before any step, where that takes longer than the slow one."""
    first = [query.nodes[query.slowest_step] for query in figures.queries if query.slowest_step]
    if not first or first[0].upstream or first[0].avg is None:
        return ""
    return (
        f" Records that come in meanwhile wait for the next batch, and so are {first[0].avg:,.0f} ms old on "
        f"average when they reach {render.name(first[0].node)}."
    )


def _increase(step: tuple[NodeLatency, NodeLatency]) -> int:
    upstream, node = step
    return (node.p50 or 0) - (upstream.p50 or 0)


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


def _watch(query: StreamingQuery, seconds: int, interrupted: threading.Event, console: Console) -> Latency:
    readings = _readings(query, seconds, interrupted)
    return _show_live(readings, seconds, console) if console.is_terminal else _show_lines(readings, console)


def _readings(
    query: StreamingQuery, seconds: int, interrupted: threading.Event
) -> Iterator[tuple[float, Latency]]:
    """Yields the figures twice a second, and the seconds since the first known ones, until time is up."""
    first: float | None = None
    give_up = time.monotonic() + _FIRST_WITHIN_SECONDS
    while not interrupted.wait(0.5):
        if (failure := query.exception()) is not None:
            raise SparkLatencyError(f"The query of the demo failed: {failure}") from failure
        now, figures = time.monotonic(), latency(query)
        if first is None and slow_step(figures.nodes):
            first = now
        yield 0.0 if first is None else now - first, figures
        if now >= (give_up if first is None else first + seconds):
            return


def _show_live(readings: Iterator[tuple[float, Latency]], seconds: int, console: Console) -> Latency:
    figures = Latency(())
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        for elapsed, figures in readings:
            clock = Text(f"\n{min(elapsed, seconds):.0f} of {seconds} s")
            live.update(Group(render.tables(figures.queries), clock))
    return figures


def _show_lines(readings: Iterator[tuple[float, Latency]], console: Console) -> Latency:
    figures = Latency(())
    due = 0.0
    for elapsed, figures in readings:
        if elapsed >= due and (due or slow_step(figures.nodes)):
            due = elapsed + _PLAIN_EVERY_SECONDS
            lines = [f"{elapsed:3.0f} s  {render.line(node)}" for node in figures.nodes]
            console.print("\n".join(lines), markup=False)
    return figures


def _interrupt_as_event() -> threading.Event:
    """Makes the first Ctrl-C an event, so that it breaks no call into the JVM; a second is as usual."""
    interrupted = threading.Event()

    def handle(_signal: int, _frame: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, handle)
    return interrupted
