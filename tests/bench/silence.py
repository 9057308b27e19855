"""How soon windows close when a source has fallen silent, with a system-time watermark on real Kafka topics.

Each situation of `tests/e2e/silent.py` runs alone, in a driver of its own. Of each run counts the window that
came last after its end and the lag. Also counts the windows that by event time are never given out.
Writes a table beside those of the other benchmarks. Wants a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from measuring import HERE

sys.path.insert(0, str(HERE.parent / "e2e"))
sys.path.insert(0, str(HERE.parent / "python"))

from broker import running_broker
from cluster import Spark
from silences import RATE, ends_of, run
from silent import SITUATIONS

WHAT = {
    "partition": "one of two partitions is silent",
    "unhurried": "the same with the default trigger",
    "joined": "one of two joined topics is silent",
    "never": "one of two joined topics never had a record",
    "filtered": "a filter drops all that comes",
    "silent": "the only topic is silent",
    "restarted": "the same, and the query restarts meanwhile",
}

WARM_UP = 15 * RATE
"""Records before any figure counts: a quarter of a minute. A query that has just begun has slow batches."""

_AS_SHIPPED = {"JDK_JAVA_OPTIONS": ""}
"""Without what lets the many short-lived JVMs of tests do less."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--line", default="4.2", help="the line of Spark")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    spark = Spark(given.line)
    never_given = "of these, never given out by event time"
    head = "| latest window, ms after end + lag: median of the runs | worst run | a batch took, ms |"
    rows = [
        f"| Spark {given.line}, runs: {given.runs} | windows | {never_given} {head}",
        "|---|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as scratch, running_broker(_folder(scratch, "broker")) as broker:
        for name in SITUATIONS:
            late, took, windows, never = [], [], 0, 0
            for number in range(given.runs):
                told = run(spark, broker, _folder(scratch, f"{name}-{number}"), [name], _AS_SHIPPED, WARM_UP)
                late.append(told.latest(name))
                took += [batch.took for batch in told.progress[name].values()]
                ends = ends_of(name, told.whole[name])
                windows += len(ends)
                never += len(ends - ends_of(name, told.event[name]))
            without = "as above" if name == "restarted" else str(never)
            figures = f"{median(late):,.0f} | {max(late):,} | {median(took):,.0f}"
            rows.append(f"| {WHAT[name]} | {windows} | {without} | {figures} |")
            print(rows[-1], file=sys.stderr)
    table = "\n".join(rows)
    (HERE / "results" / f"silence-{given.line}.md").write_text(table + "\n")
    print(table)


def _folder(scratch: str, name: str) -> Path:
    folder = Path(scratch, name)
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
