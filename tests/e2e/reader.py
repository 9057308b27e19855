"""A reader of the tutorial, who runs the commands of its page as they are, but on the suite's broker."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from broker import Broker, java
from children import Child, java_options
from cluster import Spark, conf_of, settings

DOCS = Path(__file__).parents[2] / "python" / "docs"
SCRIPT = DOCS / "tutorial.py"
_PACKAGES = Path(__file__).parent / "target" / "packages"
"""Where Spark keeps what `--packages` brings: 63 MB."""

_TOOLS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
}


def block(program: str, page: Path = DOCS / "tutorial.md") -> str:
    """The commands of the one block of a page that names the program."""
    blocks: list[str] = re.findall(r"^```bash\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    [found] = [one for one in blocks if re.search(rf"\b{program} ", one)]
    return found


@dataclass(frozen=True)
class Reader:
    """Who has Spark on the path, and a folder of their own, where Kafka was unpacked."""

    spark: Spark
    broker: Broker
    folder: Path
    conf: Mapping[str, str] = field(default_factory=dict)
    """Settings of the application that the page does not have."""

    def start(self, name: str, commands: str) -> Child:
        """Runs commands of the page on the suite's broker, at a free port, with packages of earlier runs."""
        mended = commands.replace("localhost:9092", self.broker.address)
        ours = " ".join(settings({"spark.ui.port": "0", "spark.jars.ivy": str(_PACKAGES), **self.conf}))
        mended = mended.replace("--packages ", f"{ours} --packages ")
        mended = mended.replace(f" {SCRIPT.name}", f" {SCRIPT} {self.broker.address}")
        return Child(name, ["bash", "-euc", f"cd '{self.folder}'\n{mended}"], self.folder, self._environment)

    def sent(self) -> int:
        """How many orders the topic holds."""
        with self.start(
            "offsets", "bin/kafka-get-offsets.sh --bootstrap-server localhost:9092 --topic orders"
        ) as offsets:
            return sum(int(line.rsplit(":", 1)[1]) for line in offsets.finish(within=60))

    @cached_property
    def _environment(self) -> dict[str, str]:
        tools = self.folder / "bin"
        tools.mkdir()
        for tool, main in _TOOLS.items():
            script = tools / tool
            command = " ".join(f"'{part}'" for part in java(main))
            # It ends with the shell that started it, and so does what feeds it, should pytest be killed.
            ending = "setpriv --pdeathsig KILL " if sys.platform == "linux" else ""
            script.write_text(f'#!/bin/sh\nexec {ending}{command} "$@"\n')
            script.chmod(0o755)
        path = [self.spark.python.parent, os.environ["PATH"]]
        return {
            "PATH": ":".join(map(str, path)),
            "PYSPARK_PYTHON": str(self.spark.python),
            # An empty home: Spark also looks for packages in ~/.m2, where Maven may have left half of one.
            "JDK_JAVA_OPTIONS": f"{java_options(self.folder, self.spark.classes)} -Duser.home={self.folder}",
            "SPARK_CONF_DIR": str(conf_of(self.folder)),
            "SPARK_HOME": str(self.spark.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
