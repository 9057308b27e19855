"""Mutants: patches that break the code, each in a way that a suite must notice.

A patch begins with a line that says what is broken. Then comes a line for each suite that must fail, such as
``Killed by: core/testOnly *.ASuite`` or ``Killed by: pytest tests/python/test_a.py``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
CHECKOUT = FOLDER.parents[1]
_KILLED_BY = "Killed by: "


@dataclass(frozen=True)
class Mutant:
    """One patch."""

    name: str
    """As its file below this folder, such as ``core/older-retry-wins``."""
    words: str
    """What is broken."""
    suites: tuple[str, ...]

    @property
    def patch(self) -> Path:
        return FOLDER / f"{self.name}.patch"

    @property
    def hunks(self) -> list[tuple[str, str]]:
        """The file of each hunk, and the text that the hunk replaces there."""
        found: list[tuple[str, str]] = []
        file = ""
        for line in self.patch.read_text(encoding="utf-8").splitlines():
            if line.startswith("--- a/"):
                file = line.removeprefix("--- a/")
            elif line.startswith("@@"):
                found.append((file, ""))
            elif found and line[:1] in (" ", "-"):
                found[-1] = (file, f"{found[-1][1]}{line[1:]}\n")
        return found

    def applies(self, checkout: Path, *options: str) -> bool:
        """Applies the patch there, or with ``--check`` tries to; tells whether that works."""
        # A copy within a checkout is no checkout: without a ceiling git would patch nothing, and be content.
        outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(checkout.parent)}
        command = [tool("git"), "apply", *options, str(self.patch)]
        done = subprocess.run(command, cwd=checkout, env=outside, capture_output=True, check=False)
        return done.returncode == 0


def mutants() -> list[Mutant]:
    """Returns all there are, by name."""
    return [_read(patch) for patch in sorted(FOLDER.glob("*/*.patch"))]


def files() -> set[str]:
    """Returns the files of the checkout, also those that are not committed yet."""
    listed = [tool("git"), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    printed = subprocess.run(listed, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    return {file for file in printed.split("\0") if (CHECKOUT / file).is_file()}


def tool(name: str) -> str:
    """Returns the path of a program."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


def _read(patch: Path) -> Mutant:
    head, *_ = re.split(r"^--- ", patch.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)
    words = [line for line in head.splitlines() if not line.startswith(_KILLED_BY)]
    suites = [line.removeprefix(_KILLED_BY) for line in head.splitlines() if line.startswith(_KILLED_BY)]
    return Mutant(str(patch.relative_to(FOLDER).with_suffix("")), "\n".join(words).strip(), tuple(suites))
