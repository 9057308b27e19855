"""A real Prometheus, and how to ask it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PAGE = Path(__file__).parents[2] / "python" / "docs" / "prometheus.md"
INTERVAL = "2300ms"
"""How often it scrapes. What happens once a second is seen at all of its ends. It waits for an answer for no
longer, and of 700 ms a busy driver took all."""


def required(program: str, package: str = "prometheus") -> str:
    """Where a program is. Skips where it is not, except on the machine that decides."""
    found = shutil.which(program)
    if found is None:
        reason = f"{program} not found; `apt-get install {package}` brings it"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def job_of_page() -> dict[str, Any]:
    """How our page says that Prometheus is to scrape a driver."""
    [job] = _yaml_of(PAGE)["scrape_configs"]
    return {**job}


def endpoint_of_page() -> dict[str, Any]:
    """How our page says that Prometheus's operator is to scrape the pods of drivers."""
    [endpoint] = _yaml_of(PAGE.with_name("deploy.md"))["spec"]["podMetricsEndpoints"]
    return {**endpoint}


def _yaml_of(page: Path) -> dict[str, Any]:
    [block] = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return {**yaml.safe_load(block)}


class Prometheus:
    """A running one."""

    def __init__(self, address: str) -> None:
        self._api = f"http://{address}/api/v1"

    def get(self, path: str, **parameters: str) -> Any:
        """What its API has at a path, or None while it is not up."""
        try:
            with urlopen(f"{self._api}/{path}?{urlencode(parameters)}", timeout=30) as answer:  # noqa: S310
                return json.load(answer)["data"]
        except (OSError, HTTPException):
            return None

    def series(self, expression: str) -> list[tuple[dict[str, str], float]] | None:
        """The labels and values that an expression has now, or None while it has none."""
        answer = self.get("query", query=expression)
        found = [(one["metric"], float(one["value"][1])) for one in answer["result"]] if answer else []
        return found or None


def judged_often(rules: str) -> str:
    """The exported rules, judged as often as it scrapes."""
    exported = "\n  interval: 15s\n"
    assert rules.count(exported) == 1
    return rules.replace(exported, f"\n  interval: {INTERVAL}\n")


@contextmanager
def scraping(
    ui: str,
    folder: Path,
    rules: str = "{}",
    relabelled: Sequence[Mapping[str, Any]] = (),
    interval: str = INTERVAL,
) -> Iterator[Prometheus]:
    """One that scrapes the driver with that UI and judges rules, for as long as the block runs.

    It scrapes as our page says, but more often. The target has labels that are called like ours, as targets
    in Kubernetes have.

    Args:
        ui: its address.
        folder: an empty one, for what it writes.
        rules: a file of them.
        relabelled: how it changes the labels of our series, as ``metric_relabel_configs`` says it.
        interval: how often it scrapes. It does not wait for an answer for longer than that.
    """
    address = f"127.0.0.1:{free_port()}"
    (folder / "rules.yml").write_text(rules)
    labels = {"app": "of the target", "node": "of the target", "namespace": "team-a"}
    targets = [{"targets": [ui.removeprefix("http://")], "labels": labels}]
    job = {
        **job_of_page(),
        "scrape_interval": interval,
        "static_configs": targets,
        "metric_relabel_configs": [*relabelled],
    }
    configuration = {"rule_files": ["rules.yml"], "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    command = [
        required("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "prometheus.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield Prometheus(address)
    finally:
        server.kill()
        server.wait()
