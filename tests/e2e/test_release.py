"""What a release uploads, installed as users do: by Spark from a repository, by pip into a new environment.

`make publish-local` builds it, `make test-release` says where it is. Each test starts with an empty home:
nothing of this checkout, and nothing that was installed before, can stand in for what is missing.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree as Xml
from zipfile import ZIP_STORED, ZipFile

import pytest
from cluster import LINES, OF_SCALA_213, OLDER_LINES, Spark, installed, settings

from mutants import CHECKOUT, files

UPLOADS = Path(os.environ.get("UPLOADS", "absent")).resolve()
VERSION = version("sparklatency")

pytestmark = pytest.mark.skipif("UPLOADS" not in os.environ, reason="make test-release runs these")

SCALA = """
import io.sparklatency.spark.syntax._
val aged = spark.sql("SELECT explode(sequence(1, 2)), current_timestamp() AS at")
aged.withE2ELatency("node", "at").write.format("noop").mode("overwrite").save()
def counted = spark.sql("SELECT records FROM e2e_latency() WHERE node = 'node'").collect()
while (counted.isEmpty) Thread.sleep(100)
println("records: " + counted.head.getLong(0))
:quit
"""

SQL = """
SELECT /*+ E2E_LATENCY('node', at) */ * FROM VALUES (current_timestamp()), (current_timestamp()) AS t(at);
"""

ASKED = "SELECT concat('records: ', records) FROM e2e_latency() WHERE node = 'node';\n"

SUBMITTED = """
import time
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = "VALUES (current_timestamp()), (current_timestamp()) AS t(at)"
aged = spark.sql(f"SELECT /*+ E2E_LATENCY('node', at) */ * FROM {rows}")
aged.write.format("noop").mode("overwrite").save()
while not (found := spark.sql("SELECT records FROM e2e_latency() WHERE node = 'node'").collect()):
    time.sleep(0.1)
print("records:", found[0].records)
"""

PYTHON = """
import time
import matplotlib
from pyspark.sql import SparkSession
from sparklatency import configure, latency, with_e2e_latency

matplotlib.use("Agg")
spark = configure(SparkSession.builder.master("local[1]").config("spark.ui.port", "0")).getOrCreate()
events = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3).load()
marked = with_e2e_latency(events, "node", "timestamp")
started = marked.writeStream.queryName("orders").option("checkpointLocation", "checkpoint").format("noop")
started.trigger(availableNow=True).start().awaitTermination()
while not (latency().nodes and latency().history().batches):
    time.sleep(0.1)
found = latency("orders")
print("records:", found.nodes["node"].records, len(found.to_pandas()), len(found.plot().lines))
"""


@pytest.fixture(params=[*LINES, *OLDER_LINES])
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[*LINES, *OLDER_LINES, *OF_SCALA_213])
def spark(request: pytest.FixtureRequest, tmp_path: Path) -> Spark:
    return installed(request.param, tmp_path / "spark")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose home is empty."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "SPARK_HOME", "SPARK_CONF_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    # A JVM does not ask HOME where its home is.
    java = {"JDK_JAVA_OPTIONS": f"-Duser.home={tmp_path}"}
    return kept | {"HOME": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1", **java}


def artifact(spark: Spark, ending: str) -> Path:
    name = spark.artifact
    return UPLOADS / "maven/io/sparklatency" / name / VERSION / f"{name}-{VERSION}{ending}"


def test_what_maven_gets_is_complete_and_wants_nothing(spark: Spark) -> None:
    pom = Xml.parse(artifact(spark, ".pom")).getroot()  # noqa: S314
    assert "dependenc" not in Xml.tostring(pom).decode()
    for said in (
        "name",
        "description",
        "licenses/license/url",
        "organization/name",
        "developers/developer/name",
    ):
        assert pom.findtext("/".join(f"{{*}}{step}" for step in said.split("/"))), said
    classes, sources, docs = (
        ZipFile(artifact(spark, end)) for end in (".jar", "-sources.jar", "-javadoc.jar")
    )
    for archive, name in (
        (classes, "io/sparklatency/LatencyPlugin.class"),
        (classes, "io/sparklatency/recording/LatencyRecorder.class"),
        (sources, "io/sparklatency/recording/LatencyRecorder.scala"),
        (docs, "io/sparklatency/LatencyPlugin.html"),
    ):
        assert name in archive.namelist()
    assert not [name for name in classes.namelist() if name.startswith("scala/")]


def test_the_terms_are_in_all_that_is_uploaded(spark: Spark) -> None:
    licence = (CHECKOUT / "LICENSE").read_bytes()
    for end in (".jar", "-sources.jar"):
        assert ZipFile(artifact(spark, end)).read("META-INF/LICENSE") == licence
    notice = ZipFile(artifact(spark, ".jar")).read("META-INF/NOTICE").decode()
    assert "Copyright 2012-2015 The Prometheus Authors" in notice
    wheel, sdist = python_packages()
    name = f"sparklatency-{VERSION}"
    assert ZipFile(wheel).read(f"{name}.dist-info/licenses/LICENSE") == licence
    with tarfile.open(sdist) as archive:
        packed = archive.extractfile(f"{name}/LICENSE")
        assert packed is not None
        assert packed.read() == licence


def test_no_class_asks_for_one_of_ours_that_was_left_out(spark: Spark) -> None:
    command = ["jdeps", "-v", "--multi-release", "base", str(artifact(spark, ".jar"))]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    missing = re.findall(r"-> (io\.(?:sparklatency|prometheus)\S*) +not found", told)
    assert "io.sparklatency.shaded.prometheus.metrics.model.snapshots.Labels" in told
    assert missing == []


def test_each_file_is_in_the_list_of_checksums() -> None:
    lines = (UPLOADS / "SHA256SUMS").read_text().splitlines()
    listed = {name: checksum for checksum, name in (line.split("  ") for line in lines)}
    found = {str(file.relative_to(UPLOADS)): file for file in UPLOADS.rglob("*") if file.is_file()}
    del found["SHA256SUMS"]
    assert listed == {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in found.items()}


def test_the_wheel_is_little_more_than_a_jar_for_each_line(line: str) -> None:
    """Of 2.2 MB, where it is packed: a class too many in one, or a jar too many, is seen."""
    wheel, _ = python_packages()
    jars = {one.filename: one for one in ZipFile(wheel).infolist() if one.filename.endswith(".jar")}
    assert jars[f"sparklatency/jars/{artifact(Spark(line), '.jar').name}"].compress_size < 2_400_000
    assert len(jars) == len([*LINES, *OLDER_LINES])
    assert wheel.stat().st_size < len(jars) * 2_400_000


def test_the_wheel_has_the_jar_of_maven_unpacked(line: str, tmp_path: Path) -> None:
    wheel, _ = python_packages()
    name = artifact(Spark(line), ".jar").name
    inside = ZipFile(ZipFile(wheel).extract(f"sparklatency/jars/{name}", tmp_path))
    maven = ZipFile(artifact(Spark(line), ".jar"))
    assert inside.namelist() == maven.namelist()
    assert {entry.compress_type for entry in inside.infolist()} == {ZIP_STORED}
    for entry in maven.namelist():
        assert inside.read(entry) == maven.read(entry), entry


def test_a_release_built_again_in_another_folder_is_the_same(tmp_path: Path) -> None:
    """Of one line: jars, sources, API docs and POM; and the Python packages, with the jars of all lines."""
    line, again = [*LINES, *OLDER_LINES][0], tmp_path / "again"
    for file in files():
        copy = again / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / file, copy)
    for tools in (".tools", ".venv"):
        (again / tools).symlink_to((CHECKOUT / tools).resolve())
    shutil.copytree(CHECKOUT / "python/src/sparklatency/jars", again / "python/src/sparklatency/jars")
    shutil.copyfile(CHECKOUT / "LICENSE", again / "python/LICENSE")
    [launcher] = (CHECKOUT / ".tools").glob("sbt-launch-*.jar")
    bridge = f"bridge{line.replace('.', '')}"
    tasks = [f"{bridge}/unpacked", f"{bridge}/publish"]
    ran(
        ["java", "-Xmx3g", "-jar", launcher, "-Dsbt.color=false", *tasks],
        again,
        dict(os.environ),
        within=1800,
    )
    jar = artifact(Spark(line), ".jar")
    shutil.copyfile(
        again / "jvm/spark/target" / line / "unpacked" / jar.name,
        again / "python/src/sparklatency/jars" / jar.name,
    )
    ran(
        [sys.executable, "-m", "build", "--outdir", again / "dist/release/python", "python"],
        again,
        dict(os.environ),
    )
    built = [file for file in (again / "dist/release").rglob("*") if file.is_file()]
    assert len(built) >= len(["jar", "sources", "docs", "POM", "wheel", "sdist"])
    differ = [
        str(file.relative_to(again))
        for file in built
        if file.read_bytes() != (UPLOADS / file.relative_to(again / "dist/release")).read_bytes()
    ]
    assert differ == []


def test_a_shell_in_scala_resolves_the_package(line: str, home: dict[str, str], tmp_path: Path) -> None:
    shell = [Spark(line).home / "bin" / "spark-shell", *submit(Spark(line), tmp_path)]
    assert "records: 2\n" in ran(shell, tmp_path, home, SCALA)


def test_a_shell_in_sql_resolves_the_package(line: str, home: dict[str, str], tmp_path: Path) -> None:
    """SQL has no loop. Each question waits up to a second for what is on its way."""
    shell = [Spark(line).home / "bin" / "spark-sql", *submit(Spark(line), tmp_path)]
    assert "records: 2\n" in ran([*shell, "-e", SQL + 60 * ASKED], tmp_path, home)


def test_a_submitted_program_resolves_the_package(spark: Spark, home: dict[str, str], tmp_path: Path) -> None:
    """A line of SQL marks it: the program has nothing of ours but the jar."""
    program = tmp_path / "program.py"
    program.write_text(SUBMITTED)
    alone = home | {"PYSPARK_PYTHON": str(spark.python)}
    command = [spark.home / "bin" / "spark-submit", *submit(spark, tmp_path), program]
    assert "records: 2\n" in ran(command, tmp_path, alone)


def submit(spark: Spark, folder: Path) -> list[str | Path]:
    package = f"io.sparklatency:{spark.artifact}:{VERSION}"
    conf = {
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.jars.ivy": str(folder / "ivy"),
        "spark.ui.port": "0",
    }
    repository = (UPLOADS / "maven").as_uri()
    return ["--master", "local[1]", "--packages", package, "--repositories", repository, *settings(conf)]


def test_pip_installs_it_beside_any_pyspark(line: str, home: dict[str, str], tmp_path: Path) -> None:
    ran([sys.executable, "-m", "venv", "new"], tmp_path, home)
    with package_index(tmp_path / "index") as (url, asked):
        wanted = [f"pyspark=={line}.*", "sparklatency[pandas,plot]", "--extra-index-url", url]
        ran(["new/bin/pip", "install", "--quiet", *wanted], tmp_path, home)
    wheel, _ = python_packages()
    assert f"/simple/sparklatency/{wheel.name}" in asked
    assert Spark(line).artifact in ran(["new/bin/sparklatency", "jar"], tmp_path, home)
    assert "records: 3 1 1\n" in ran(["new/bin/python", "-c", PYTHON], tmp_path, home)


@contextmanager
def package_index(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A package index (PEP 503) for as long as the block runs: where it is, and what was asked of it."""
    project = folder / "simple" / "sparklatency"
    project.mkdir(parents=True)
    links = []
    for file in python_packages():
        shutil.copyfile(file, project / file.name)
        links.append(
            f'<a href="{file.name}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">{file.name}</a>'
        )
    (project / "index.html").write_text("<!DOCTYPE html><html><body>" + "".join(links) + "</body></html>")
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_request(self, *_: object) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple", asked
        server.shutdown()


def python_packages() -> tuple[Path, Path]:
    """The wheel and the sdist."""
    [wheel] = (UPLOADS / "python").glob("*.whl")
    [sdist] = (UPLOADS / "python").glob("*.tar.gz")
    return wheel, sdist


def ran(
    command: Sequence[str | Path], folder: Path, env: dict[str, str], said: str = "", within: float = 600
) -> str:
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=folder, env=env, input=said, capture_output=True, text=True, timeout=within
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
