"""``python -m blockpack``."""

from blockpack.cli import main

main()
