"""Lines that an application under test writes while several of its threads do."""

import sys


def tell(line: str) -> None:
    """Writes a line whole: ``print`` writes a line's end by itself, and another thread may come between."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
