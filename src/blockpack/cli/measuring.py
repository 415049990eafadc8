"""Commands that measure: demo, bench."""

from __future__ import annotations

import click

measure_commands: tuple[click.Command, ...] = ()
