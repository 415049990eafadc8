"""The ``blockpack`` program."""

from __future__ import annotations

import sys
from typing import Any

import click

from blockpack.cli.advising import advise_commands
from blockpack.cli.data import data_commands
from blockpack.cli.measuring import measure_commands
from blockpack.cli.stores import store_commands
from blockpack.errors import BlockpackError


class _Program(click.Group):
    """Prints what went wrong in one line, and exits with 1."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # The reader of our output has gone (`blockpack get ... | head`): nothing is wrong.
            sys.stderr.close()
            context.exit(0)
        except (BlockpackError, OSError) as error:
            raise click.ClickException(f"{type(error).__name__}: {error}") from error


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="blockpack")
def main() -> None:
    """Keep an EVM chain's blocks small on disk and read them back at decode speed.

    \b
    A first session:
      blockpack import mainnet blocks.rlp.gz    makes the store and imports
      blockpack seal mainnet                    packs what is still open
      blockpack info mainnet                    sizes, coverage, knobs
      blockpack get mainnet 46147               one block's RLP
      blockpack verify mainnet --level chain    checks everything

    Ranges are half open: 16M:17M, 15M:+1000, -1000: (the last thousand), or one number.
    """


for _command in (*store_commands, *data_commands, *measure_commands, *advise_commands):
    main.add_command(_command)
