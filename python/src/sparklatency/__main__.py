"""``python -m sparklatency`` is the command ``sparklatency``."""

from sparklatency.cli import main

main(prog_name="sparklatency")
