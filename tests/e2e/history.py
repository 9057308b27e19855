"""A History Server on loopback."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cluster import Spark, set_file


@contextmanager
def running_history_server(
    spark: Spark,
    events: Path,
    folder: Path,
    knows: Callable[[str], bool],
    conf: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """One that has our jar and reads a folder of event logs, for as long as the block runs.

    Yields where it is, as soon as it `knows` what the test asks of it there.
    """
    settings = {
        "spark.history.fs.logDirectory": events.as_uri(),
        "spark.history.ui.port": "0",
        "spark.history.fs.update.interval": "1s",
        **(conf or {}),
    }
    set_file(folder, "spark-defaults.conf", "".join(f"{key} {value}\n" for key, value in settings.items()))
    main = "org.apache.spark.deploy.history.HistoryServer"
    with spark.start("history", folder, "spark-class", main, jars=[spark.jar]) as child:
        started = r"HistoryServer.* started at http://\S+:(\d+)"
        found = child.until(lambda: re.search(started, child.log.read_text()), "it starts", within=90)
        server = f"http://127.0.0.1:{found[1]}"
        child.until(lambda: knows(server), "it knows the application", within=60)
        yield server
