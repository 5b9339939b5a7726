"""``python -m torch2ms``."""

from torch2ms.cli import main

main()
