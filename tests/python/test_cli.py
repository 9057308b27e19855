"""The command line, by what it prints and how it exits."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner, Result

from sparklatency import __version__, jar_path
from sparklatency.cli import main
from support import python

pytestmark = pytest.mark.one_line


def sparklatency(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="sparklatency")


def test_jar_prints_the_path_for_the_installed_pyspark() -> None:
    printed = sparklatency("jar")
    assert (printed.exit_code, printed.output) == (0, f"{jar_path()}\n")


@pytest.mark.parametrize(
    ("line", "scala"), [("3.5", "2.12"), ("4.0", "2.13"), ("4.1", "2.13"), ("4.2", "2.13"), ("4.3", "2.13")]
)
def test_jar_prints_the_path_for_a_line(line: str, scala: str) -> None:
    for version in (line, f"{line}.0", f"{line}.1-vendor2"):
        printed = sparklatency("jar", "--spark", version)
        assert (printed.exit_code, printed.output) == (0, f"{jar_path(line)}\n")
    assert jar_path(line).endswith(f"/sparklatency-spark_{line}_{scala}-{__version__}.jar")


def test_jar_names_the_lines_there_are_when_none_fits() -> None:
    failed = sparklatency("jar", "--spark", "3.4.4")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert (
        "has no jar for Spark 3.4 (asked for 3.4.4). It has one for Spark 3.5, 4.0, 4.1, 4.2, 4.3."
        in failed.stderr
    )
    assert "has no jar for Spark 4.20 (asked for 4.20.1)." in sparklatency("jar", "--spark", "4.20.1").stderr


def test_jar_refuses_what_is_no_version() -> None:
    failed = sparklatency("jar", "--spark", "newest")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "'newest' is not a version of Spark. Write it like 4.2 or 4.2.1." in failed.stderr


def test_jar_refuses_a_scala_that_is_not_in_the_wheel() -> None:
    assert sparklatency("jar", "--spark", "3.5_2.12").output == f"{jar_path('3.5')}\n"
    failed = sparklatency("jar", "--spark", "3.5_2.13")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "'3.5_2.13': the wheel's jar for Spark 3.5 is for Scala 2.12. `make build`" in failed.stderr


def test_jar_without_pyspark_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    failed = sparklatency("jar")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert (
        "pyspark is not installed here. Install the one you want: pip install 'pyspark==4.3.*'"
        in failed.stderr
    )
    assert sparklatency("jar", "--spark", "4.2").exit_code == 0


def test_version_names_the_package_and_its_lines() -> None:
    assert (
        sparklatency("--version").output
        == f"sparklatency {__version__}, jars for Spark: 3.5, 4.0, 4.1, 4.2, 4.3\n"
    )


def test_help_names_the_exit_codes() -> None:
    assert "  3    missed (slo), or something is wrong (check)\n" in sparklatency("--help").output


@pytest.mark.parametrize(
    "arguments", [["jug"], ["jar", "--line"], ["demo", "--seconds", "0"], ["demo", "--svg", "."]]
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert sparklatency(*arguments).exit_code == 2


def test_a_limit_beyond_the_histograms_is_refused() -> None:
    failed = sparklatency("export", "prometheus-rules", "--p99", "168h")
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert "the alert would never fire" in failed.stderr
    assert "> 604799\n" in sparklatency("export", "prometheus-rules", "--p99", "604799s").stdout


def test_a_picture_that_has_no_place_is_refused_before_the_demo_runs() -> None:
    failed = sparklatency("demo", "--svg", "no/such/folder/demo.svg")
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert "there is no folder no/such/folder" in failed.stderr


def test_importing_the_package_imports_no_pyspark() -> None:
    assert python("import sys, sparklatency.cli; print('pyspark' in sys.modules)") == "False\n"


def test_the_command_starts_where_types_of_click_take_no_type() -> None:
    """As before click 8.4."""
    script = """
    import click
    click.ParamType.__class_getitem__ = None
    from sparklatency.cli import main
    main(["jar"])
    """
    assert python(script) == f"{jar_path()}\n"
