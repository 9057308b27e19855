"""A real Kafka broker on loopback, and the suite's JVM programs that talk to it."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from children import Child
from waits import PATIENT_ATTACHING

from ports import free_port

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
auto.create.topics.enable=false
metadata.max.idle.interval.ms=0
broker.session.timeout.ms=600000
initial.broker.registration.timeout.ms=600000
"""
"""Without the first of the last three a broker that has nothing to do writes a record twice a second, half of
its work. Without the others one that stands still for nine seconds loses its partitions until it is heard
again, and one that needs a minute to begin ends."""


@dataclass(frozen=True)
class Broker:
    """A running broker."""

    address: str
    process: Child

    def create_topics(self, folder: Path, timestamp_types: Mapping[str, str]) -> None:
        """Creates topics, each with its ``message.timestamp.type``."""
        topics = [f"{topic}:{timestamps}" for topic, timestamps in timestamp_types.items()]
        with self.program(folder, "Topics", *topics) as program:
            program.finish(within=60)

    def program(self, folder: Path, name: str, *arguments: str) -> Child:
        """Starts a program that takes the broker's address first; its output goes to `folder`."""
        return Child(name.lower(), java(f"io.sparklatency.e2e.{name}", self.address, *arguments), folder)


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """A single node in combined mode (KRaft), for as long as the block runs."""
    port = free_port()
    config = folder / "server.properties"
    config.write_text(_PROPERTIES.format(port=port, controller=free_port(), folder=folder))
    formatting = java("kafka.tools.StorageTool", "format", "-t", "c3BhcmtsYXRlbmN5ZTJlMQ", "-c", config)
    with Child("storage", formatting, folder) as storage:
        storage.finish(within=60)
    with Child("broker", java("kafka.Kafka", config, heap="512m"), folder) as broker:
        broker.until(lambda: _listens(port), f"it listens on port {port}", within=60)
        yield Broker(f"127.0.0.1:{port}", broker)


def java(main: str, *arguments: str | Path, heap: str = "128m") -> list[str | Path]:
    """The command that runs one of the suite's own programs, or of Kafka's."""
    flags = [f"-Xmx{heap}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", f"-D{PATIENT_ATTACHING}"]
    return ["java", *flags, "-cp", ":".join(resolved("programs")), main, *arguments]


def resolved(name: str) -> list[str]:
    """The paths in a list that ``sbt e2e/classpaths`` wrote."""
    file = Path(__file__).parent / "target" / f"{name}.txt"
    if not file.exists():
        raise FileNotFoundError(f"{file} is missing; the sbt task e2e/classpaths writes it")
    return file.read_text().splitlines()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
