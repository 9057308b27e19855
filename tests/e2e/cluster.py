"""A real Spark standalone cluster on loopback: a master, two workers, and applications submitted to them."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from children import Child, java_options
from jvms import PLAIN_FILES, thrifty

from ports import free_port

LINES = os.environ.get("SPARK_LINES", "4.2 4.3").split()
OLDER_LINES = os.environ.get("OLDER_LINES", "4.1 4.0 3.5").split()
"""Those that have one pipeline instead of all."""

HOSTS = ["127.0.0.1", "localhost"]
"""Of each worker: two names of one host, for Spark runs no speculative attempt on the host of the first."""

WORKERS = len(HOSTS)

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Spark:
    """An installed pyspark of one Spark line."""

    line: str
    java_home: Path | None = None
    """The JDK that it runs on; that of the machine without it."""

    @property
    def python(self) -> Path:
        return _only(f".venv/{self.line}/bin/python")

    @property
    def command(self) -> Path:
        """The command `sparklatency` that is installed beside this pyspark."""
        return _only(f".venv/{self.line}/bin/sparklatency")

    @property
    def home(self) -> Path:
        """Where pyspark keeps the jars and scripts of Spark."""
        return _only(f".venv/{self.line}/lib/python3*/site-packages/pyspark")

    @property
    def artifact(self) -> str:
        """What our jar is called in Maven."""
        return f"sparklatency-spark_{self.line}_{'2.12' if self.line == '3.5' else '2.13'}"

    @property
    def jar(self) -> Path:
        """The jar under test."""
        return _only(f"dist/{self.artifact}-*.jar")

    @property
    def classes(self) -> Path | None:
        """An archive of the classes that an application loads, where there is one for its JDK. It is for JVMs
        whose class path is Spark's. With one that it cannot use a JVM goes without that of the JDK, too."""
        archive = _ROOT / f".venv/{self.line}/classes.jsa"
        return archive if self.java_home is None and archive.exists() else None

    def start(
        self,
        name: str,
        folder: Path,
        script: str,
        *arguments: str | Path,
        jars: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
    ) -> Child:
        """Runs one of Spark's scripts on loopback, with no settings but ours, and `jars` beside Spark's.

        The settings are what `set_file` has put there.
        """
        own = {
            "JDK_JAVA_OPTIONS": f"{java_options(folder, self.classes)} {thrifty(self.line)}",
            "SPARK_DIST_CLASSPATH": PLAIN_FILES,
            "SPARK_DAEMON_CLASSPATH": ":".join(map(str, jars)),
            "SPARK_HOME": self.home,
            "SPARK_CONF_DIR": conf_of(folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",  # its port would be a fixed one
            "PYSPARK_PYTHON": self.python,
            **({"JAVA_HOME": self.java_home} if self.java_home else {}),
        }
        command = [self.home / "bin" / script, *arguments]
        return Child(
            name, command, folder, {name: str(value) for name, value in {**own, **(env or {})}.items()}
        )


@dataclass(frozen=True)
class LinkedSpark(Spark):
    """The same with a home of links in `folder`: a cluster within the driver writes into Spark's home."""

    folder: Path = field(kw_only=True)

    def __post_init__(self) -> None:
        for part in super().home.iterdir():
            (self.folder / part.name).symlink_to(part)

    @property
    def home(self) -> Path:
        return self.folder


@dataclass(frozen=True)
class SparkOfScala213(LinkedSpark):
    """Spark 3.5 with jars of Scala 2.13, which pip does not bring, and those that go with them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        jars = self.folder / "jars"
        jars.unlink()
        jars.mkdir()
        for jar in (_ROOT / "tests/e2e/target/spark35.txt").read_text().splitlines():
            (jars / Path(jar).name).symlink_to(jar)

    @property
    def artifact(self) -> str:
        return "sparklatency-spark_3.5_2.13"


OF_SCALA_213 = ["3.5_2.13"] if "3.5" in {*LINES, *OLDER_LINES} else []
"""What tests call it, where they run on Spark 3.5 at all."""


def installed(key: str, folder: Path, java_home: Path | None = None) -> Spark:
    """The Spark of a line, or of one of OF_SCALA_213, which is put together in a new folder `folder`."""
    if key not in OF_SCALA_213:
        return Spark(key, java_home)
    folder.mkdir()
    return SparkOfScala213("3.5", java_home, folder=folder)


def conf_of(folder: Path) -> Path:
    """Where what is started in `folder` has Spark's settings. It is absent without: no archive of classes is
    read where a folder that holds files is on the class path."""
    return folder / "conf"


def set_file(folder: Path, name: str, text: str) -> None:
    """Gives what is started in `folder` a file of settings."""
    conf_of(folder).mkdir(exist_ok=True)
    (conf_of(folder) / name).write_text(text)


def settings(conf: Mapping[str, str]) -> list[str]:
    """Settings as spark-submit takes them."""
    return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]


def watched(events: Path) -> dict[str, str]:
    """Settings of an application with our plugin whose pages are looked at, live and in a History Server.

    Its window is longer than all tests of it take.
    """
    return {
        "spark.ui.port": "0",
        "spark.driver.host": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.sparklatency.sample.window": "1h",
    }


@dataclass(frozen=True)
class Application:
    """A running PySpark application whose executors have registered."""

    driver: Child
    id: str
    jmx: str
    """Where the driver's JMX connector listens."""
    port: int
    """Where the driver listens to its executors. The id may be that of an application of another cluster."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    spark: Spark
    url: str
    folder: Path
    workers: Sequence[Child] = ()
    """Those that are processes of their own; executors die with them."""

    @contextmanager
    def running(
        self, folder: Path, script: Path, *arguments: str, jars: list[str], conf: Mapping[str, str]
    ) -> Iterator[Application]:
        """Submits `script`, for as long as the block runs. It must print its application id as a line."""
        jmx, port = f"127.0.0.1:{free_port()}", free_port()
        submit = [
            "--master", self.url, "--driver-memory", "1g", "--executor-memory", "1g",
            "--jars", ",".join(jars), "--driver-java-options", remote_jmx(jmx),
            *settings({"spark.driver.port": str(port), **conf}),
        ]  # fmt: skip
        with self.spark.start("driver", folder, "spark-submit", *submit, script, *arguments) as driver:
            [app, *_] = driver.until(lambda: _ids(driver), "it prints its application id", within=90)
            driver.until(lambda: self._executors(app) == WORKERS, "its executors register", within=90)
            yield Application(driver, app, jmx, port)

    def _executors(self, application: str) -> int:
        logs = self.folder.glob(f"*/{application}/*/stderr")
        return sum("Successfully registered with driver" in log.read_text() for log in logs)


def cluster_in_driver(line: str, folder: Path, cores: int = 1) -> Cluster:
    """The one that Spark starts within a driver and for it alone; it comes and goes with the application."""
    return Cluster(LinkedSpark(line, folder=folder), f"local-cluster[{WORKERS},{cores},1024]", folder)


@contextmanager
def running_cluster(spark: Spark, folder: Path) -> Iterator[Cluster]:
    """A master and its workers of one core each, for as long as the block runs."""
    with ExitStack() as children:
        ports = ["--port", "0", "--webui-port", "0"]
        master = children.enter_context(
            spark.start(
                "master", folder, "spark-class", "org.apache.spark.deploy.master.Master",
                "--host", "127.0.0.1", *ports,
            )
        )  # fmt: skip
        url = _await_log(master, r"Starting Spark master at (\S+)")
        workers = [
            children.enter_context(
                spark.start(
                    f"worker-{i}", folder, "spark-class", "org.apache.spark.deploy.worker.Worker",
                    "--host", host, *ports, "--cores", "1", "--memory", "1g",
                    "-d", folder / f"worker-{i}", url,
                )
            )
            for i, host in enumerate(HOSTS)
        ]  # fmt: skip
        for worker in workers:
            _await_log(worker, r"(Successfully registered with master)")
        yield Cluster(spark, url, folder, workers)


def _ids(driver: Child) -> list[str]:
    return [line for line in driver.lines() if re.fullmatch(r"app-\d+-\d+", line)]


def _only(pattern: str) -> Path:
    found = list(_ROOT.glob(pattern))
    if len(found) != 1:
        raise FileNotFoundError(f"{pattern}: {len(found)} found where one is wanted; `make build` makes it")
    return found[0]


def _await_log(child: Child, pattern: str) -> str:
    found = child.until(lambda: re.search(pattern, child.log.read_text()), f"it says {pattern}", within=60)
    return str(found[1])


def remote_jmx(address: str) -> str:
    """Options of a JVM by which a console reaches it."""
    host, port = address.split(":")
    return (
        f"-Dcom.sun.management.jmxremote.port={port} -Dcom.sun.management.jmxremote.rmi.port={port}"
        f" -Dcom.sun.management.jmxremote.host={host} -Djava.rmi.server.hostname={host}"
        " -Dcom.sun.management.jmxremote.authenticate=false -Dcom.sun.management.jmxremote.ssl=false"
    )
