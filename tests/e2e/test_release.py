"""What a release uploads, installed as users do: by Spark from a repository, by pip into a new environment.

`make publish-local` builds it, `make test-release` says where it is. Each test starts with an empty home:
nothing of this checkout, and nothing that was installed before, can stand in for what is missing.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as Xml
from zipfile import ZipFile

import pytest
from cluster import LINES, OLDER_LINES, Spark, settings

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
SELECT concat('nodes: ', count(node)) FROM e2e_latency();
"""

PYTHON = """
import time
from pyspark.sql import SparkSession, functions as F
from sparklatency import configure, latency, with_e2e_latency

spark = configure(SparkSession.builder.master("local[1]").config("spark.ui.port", "0")).getOrCreate()
aged = spark.range(3).select(F.current_timestamp().alias("at"))
with_e2e_latency(aged, "node", "at").write.format("noop").mode("overwrite").save()
while not latency().nodes:
    time.sleep(0.1)
print("records:", latency().nodes["node"].records, len(latency().to_pandas()))
"""


@pytest.fixture(params=[*LINES, *OLDER_LINES])
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose home is empty."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "SPARK_HOME", "SPARK_CONF_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"HOME": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"}


def artifact(line: str, ending: str) -> Path:
    name = f"sparklatency-spark_{line}_2.13"
    return UPLOADS / "maven/io/sparklatency" / name / VERSION / f"{name}-{VERSION}{ending}"


def test_what_maven_gets_is_complete_and_wants_nothing(line: str) -> None:
    pom = Xml.parse(artifact(line, ".pom")).getroot()  # noqa: S314
    assert "dependenc" not in Xml.tostring(pom).decode()
    classes, sources, docs = (
        ZipFile(artifact(line, end)) for end in (".jar", "-sources.jar", "-javadoc.jar")
    )
    for archive, name in (
        (classes, "io/sparklatency/LatencyPlugin.class"),
        (classes, "io/sparklatency/recording/LatencyRecorder.class"),
        (sources, "io/sparklatency/recording/LatencyRecorder.scala"),
        (docs, "io/sparklatency/LatencyPlugin.html"),
    ):
        assert name in archive.namelist()
    assert not [name for name in classes.namelist() if name.startswith("scala/")]


def test_each_file_is_in_the_list_of_checksums() -> None:
    lines = (UPLOADS / "SHA256SUMS").read_text().splitlines()
    listed = {name: checksum for checksum, name in (line.split("  ") for line in lines)}
    found = {str(file.relative_to(UPLOADS)): file for file in UPLOADS.rglob("*") if file.is_file()}
    del found["SHA256SUMS"]
    assert listed == {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in found.items()}


def test_the_wheel_is_below_ten_megabytes() -> None:
    [wheel] = (UPLOADS / "python").glob("*.whl")
    assert wheel.stat().st_size < 10_000_000


def test_a_shell_in_scala_resolves_the_package(line: str, home: dict[str, str], tmp_path: Path) -> None:
    shell = [Spark(line).home / "bin" / "spark-shell", *submit(line, tmp_path)]
    assert "records: 2\n" in ran(shell, tmp_path, home, SCALA)


def test_a_shell_in_sql_resolves_the_package(line: str, home: dict[str, str], tmp_path: Path) -> None:
    shell = [Spark(line).home / "bin" / "spark-sql", *submit(line, tmp_path)]
    assert "nodes: " in ran([*shell, "-e", SQL], tmp_path, home)


def submit(line: str, folder: Path) -> list[str | Path]:
    package = f"io.sparklatency:sparklatency-spark_{line}_2.13:{VERSION}"
    conf = {
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.jars.ivy": str(folder / "ivy"),
        "spark.ui.port": "0",
    }
    repository = (UPLOADS / "maven").as_uri()
    return ["--master", "local[1]", "--packages", package, "--repositories", repository, *settings(conf)]


def test_pip_installs_it_beside_any_pyspark(line: str, home: dict[str, str], tmp_path: Path) -> None:
    ran([sys.executable, "-m", "venv", "new"], tmp_path, home)
    wanted: list[str | Path] = [
        f"pyspark=={line}.*",
        "sparklatency[pandas,plot]",
        "--find-links",
        UPLOADS / "python",
    ]
    ran(["new/bin/pip", "install", "--quiet", *wanted], tmp_path, home)
    assert f"spark_{line}_2.13" in ran(["new/bin/sparklatency", "jar"], tmp_path, home)
    assert "records: 3 1" in ran(["new/bin/python", "-c", PYTHON], tmp_path, home)


def ran(command: Sequence[str | Path], folder: Path, env: dict[str, str], said: str = "") -> str:
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=folder, env=env, input=said, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
