"""The command ``export``: configuration for monitoring systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sparklatency.assets import grafana as dashboards
from sparklatency.assets import jmx_exporter as exporter
from sparklatency.assets import opentelemetry, prometheus
from sparklatency.cli import _options

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.group()
def export() -> None:
    """Print configuration for a monitoring system."""


@export.command("prometheus-rules")
@click.option(
    "--p99",
    default="10s",
    show_default=True,
    type=_options.Duration(),
    help="How old one record in a hundred may be.",
)
@click.option(
    "--watermark-lag",
    default="5m",
    show_default=True,
    type=_options.Duration(),
    help="How far a watermark may be behind the clock.",
)
@click.option(
    "--tasks-failed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many attempts of tasks may fail within five minutes.",
)
def prometheus_rules(p99: int, watermark_lag: int, tasks_failed: int) -> None:
    """Alerts on what the driver's Prometheus endpoint gives."""
    if p99 >= prometheus.HIGHEST_SECONDS * 1000:
        raise click.BadParameter(
            "Ages of a week and more are not told apart, so the alert would never fire. Give less than 7d.",
            param_hint="--p99",
        )
    _print_yaml(prometheus.alerts(p99 / 1000, watermark_lag / 1000, tasks_failed), "rule_files of Prometheus")


@export.command("jmx-exporter")
def jmx_exporter() -> None:
    """Rules of jmx_exporter, for Spark's JmxSink and the beans of tasks."""
    _print_yaml(exporter.rules(), "the configuration of jmx_exporter")


@export.command()
def otel() -> None:
    """Rules of OpenTelemetry's JMX metrics (otel.jmx.config)."""
    _print_yaml(opentelemetry.rules(), "otel.jmx.config")


@export.command()
def grafana() -> None:
    """A dashboard, to be imported, on what the driver's Prometheus endpoint gives."""
    _options.print_json(dashboards.dashboard())


def _print_yaml(document: Mapping[str, Any], purpose: str) -> None:
    import yaml

    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1_000)
    click.echo(f"# Made by `sparklatency export`, for {purpose}.\n{text}", nl=False)
