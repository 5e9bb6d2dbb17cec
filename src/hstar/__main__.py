"""`python -m hstar`."""

from __future__ import annotations

from hstar.cli import main

main()
