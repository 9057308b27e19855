"""However pytest ends, broker, cluster, executors and driver end with it."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from children import PATIENCE, Child
from cluster import LINES
from waits import await_until

from sampling import by_turns

HELD = Path(__file__).parent / "held.py"
PROJECT = Path(__file__).parents[2] / "python" / "pyproject.toml"
PARTS = ["Kafka", "Master", "Worker", "ExecutorBackend", "SparkSubmit", "pipeline.py", "JmxProbe"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for help, and /proc for who is left")
@pytest.mark.parametrize("ending", by_turns([signal.SIGINT, signal.SIGKILL]))
def test_no_process_remains(ending: signal.Signals, tmp_path: Path) -> None:
    """An interrupt runs the ends of the fixtures; a kill, like a SIGTERM, leaves everything to the kernel."""
    mark = {"SPARKLATENCY_E2E": str(uuid4())}
    command = f"{sys.executable} -m pytest -c {PROJECT} -q -s --basetemp {tmp_path}/held {HELD}"
    try:
        with Child("pytest", command.split(), tmp_path, {**mark, "SPARK_LINES": LINES[0]}) as held:
            held.until(lambda: "held" in held.lines(), "everything is held", within=300)
            running = " ".join(marked(mark).values())
            assert [part for part in PARTS if part not in running] == []
            os.kill(held.pid, ending)
            with suppress(TimeoutError):
                await_until(lambda: not marked(mark), within=PATIENCE * 60)
            assert marked(mark) == {}
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


def marked(mark: dict[str, str]) -> dict[int, str]:
    """Ids and command lines of the processes that inherited an environment variable."""
    ((name, value),) = mark.items()
    found = {}
    for proc in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended while we looked
            if f"{name}={value}".encode() in (proc / "environ").read_bytes().split(b"\0"):
                found[int(proc.name)] = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found
