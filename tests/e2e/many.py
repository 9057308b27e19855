"""An application whose streaming queries come and go, with its UI on.

After as many as each argument says, all in all, it tells what it is made of.
"""

import gc
import json
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import urlopen

from pyspark.sql import SparkSession
from waits import EVENTS_WITHIN, PATIENT_ATTACHING, await_until

from sparklatency import latency, with_e2e_latency


def run(spark: SparkSession, name: str, checkpoints: Path) -> None:
    """Spark keeps the names of folders that it makes up itself, to remove them in the end."""
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    source = with_e2e_latency(rows, "source", timestamp="timestamp")
    sink = with_e2e_latency(source.filter("value >= 0"), "sink", timestamp="timestamp")
    writer = sink.writeStream.queryName(name).option("checkpointLocation", str(checkpoints / name))
    writer.format("noop").trigger(availableNow=True).start().awaitTermination()


def look(ui: str) -> None:
    for page in ("latency/", "api/v1/latency/prometheus"):
        urlopen(f"{ui}/{page}").read()  # noqa: S310


def beans(spark: SparkSession, domain: str) -> int:
    """By reflection: py4j does not get at the server itself, whose class the JDK does not export."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    methods = jvm.java.lang.Class.forName("javax.management.MBeanServer").getMethods()
    [query] = [one for one in methods if one.getName() == "queryNames"]
    arguments = gateway.new_array(jvm.java.lang.Object, 2)
    arguments[0] = jvm.javax.management.ObjectName(f"{domain}:*")
    return len(query.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), arguments))


def gauges(spark: SparkSession) -> int:
    """By a method handle: py4j would list all of SparkEnv, some of types that pyspark 4.3 has no jar for."""
    jvm: Any = spark._jvm
    named, invoke = jvm.java.lang.Class.forName, jvm.java.lang.invoke
    metrics = invoke.MethodType.methodType(named("org.apache.spark.metrics.MetricsSystem"))
    environment = named("org.apache.spark.SparkEnv")
    method = invoke.MethodHandles.publicLookup().findVirtual(environment, "metricsSystem", metrics)
    system = method.bindTo(spark._jsc.sc().env()).invokeWithArguments(jvm.java.util.ArrayList())
    return int(system.getSourcesByName("sparklatency").head().metricRegistry().getGauges().size())


class Told(Event):
    """Stands in py4j's queue as one more object to let go of."""

    def garbage_collect_object(self, _id: str, _enqueue: bool) -> None:
        self.set()


def release(spark: SparkSession) -> None:
    """Lets go of what only Python holds of the JVM. A thread of py4j tells the JVM, up to a second later."""
    gateway: Any = spark.sparkContext._gateway
    gc.collect()
    told = Told()
    gateway._gateway_client.finalizer_deque.appendleft((told, ""))
    if not told.wait(EVENTS_WITHIN):
        raise TimeoutError("py4j does not tell the JVM what can go.")


def live(spark: SparkSession) -> dict[str, tuple[int, int]]:
    """Instances and bytes of each class, after the garbage has been collected.

    What a collection finds Spark cleans up after it, in a thread of its own: so it takes several.
    """
    release(spark)
    found = [histogram(spark)]

    def is_clean() -> bool:
        found.append(histogram(spark))
        before, after = (one.get("org.apache.spark.CleanAccum") for one in found[-2:])
        return before == after

    await_until(is_clean, EVENTS_WITHIN, every=1)
    return found[-1]


def histogram(spark: SparkSession) -> dict[str, tuple[int, int]]:
    jvm: Any = spark._jvm
    jcmd = Path(jvm.java.lang.System.getProperty("java.home"), "bin", "jcmd")
    pid = str(jvm.java.lang.ProcessHandle.current().pid())
    command = [str(jcmd), f"-J-D{PATIENT_ATTACHING}", pid, "GC.class_histogram"]
    printed = subprocess.check_output(command, text=True)
    rows = [line.split() for line in printed.splitlines() if line.lstrip()[:1].isdigit()]
    return {row[3]: (int(row[1]), int(row[2])) for row in rows if len(row) > 3}


def statuses() -> list[tuple[str | None, str]]:
    return [(one.status, one.query) for one in latency().queries]


def seen(spark: SparkSession, last: str) -> dict[str, Any]:
    await_until(lambda: ("FINISHED", last) in statuses(), EVENTS_WITHIN)  # all that has ended is counted
    queries = len(statuses())
    jvm: Any = spark._jvm
    classes = live(spark)
    return {
        "queries": queries,
        "gauges": gauges(spark),
        "beans": {domain: beans(spark, domain) for domain in ("metrics", "sparklatency")},
        "threads": [thread.getName() for thread in jvm.java.lang.Thread.getAllStackTraces().keySet()],
        "objects": {name: instances for name, (instances, _) in classes.items()},
        "bytes": {name: size for name, (_, size) in classes.items()},
    }


def main(checkpoints: str, *counts: str) -> None:
    spark = SparkSession.builder.appName("many").getOrCreate()
    ui = str(spark.sparkContext.uiWebUrl)
    started = 0
    for count in map(int, counts):
        for number in range(started, count):
            run(spark, f"query-{number}", Path(checkpoints))
            if number % 10 == 0:
                look(ui)
        if not started:
            seen(spark, f"query-{count - 1}")  # py4j and the JVM keep what a look makes for the first time
        started = count
        print("many:", json.dumps(seen(spark, f"query-{count - 1}")), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
