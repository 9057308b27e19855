"""The command ``sparklatency``."""

from pathlib import Path

import click

from sparklatency._version import __version__
from sparklatency.binding.jars import jar_lines, jar_path
from sparklatency.cli.check import check
from sparklatency.cli.export import export
from sparklatency.cli.reading import info, operators, path, top, watermarks
from sparklatency.cli.slo import slo
from sparklatency.errors import SparkLatencyError


class _Group(click.Group):
    """Says our own errors in one sentence instead of a traceback."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except SparkLatencyError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            raise SystemExit(130) from None  # as shells tell it


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__, message=f"%(prog)s %(version)s, jars for Spark: {', '.join(jar_lines()) or 'none'}"
)
def main() -> None:
    """How old is a record at each step of a Spark pipeline, and which step made it so?

    \b
    Exit codes:
      0    done; met
      1    could not be done, the reason is on stderr
      2    wrong usage
      3    missed (slo), or something is wrong (check)
      4    unknown, no record to tell by (slo)
      130  interrupted
    """  # noqa: D301  click takes the character for a mark


for command in (top, operators, path, info, watermarks, check, slo, export):
    main.add_command(command)


@main.command()
@click.option(
    "--spark",
    "spark_version",
    metavar="LINE",
    help="A line of Spark, such as 4.2. Without it, that of the installed pyspark.",
)
def jar(spark_version: str | None) -> None:
    """Print the path of the jar, for spark-submit --jars "$(sparklatency jar)"."""
    click.echo(jar_path(spark_version))


@main.command()
@click.option("--seconds", default=30, show_default=True, type=click.IntRange(min=1), help="How long to run.")
@click.option(
    "--rate", default=200, show_default=True, type=click.IntRange(min=1), help="Records in a burst."
)
@click.option(
    "--svg",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write a picture of the last table there.",
)
def demo(seconds: int, rate: int, svg: Path | None) -> None:
    """Run a small pipeline with one slow step, and find that step."""
    from sparklatency.demo import run

    if svg is not None and not svg.parent.is_dir():
        raise click.BadParameter(f"there is no folder {svg.parent}", param_hint="--svg")
    raise SystemExit(run(seconds=seconds, rate=rate, svg=svg))
