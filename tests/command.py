"""The command line as tests call it: in this process, or in one of its own."""

import sys

from typer.testing import CliRunner

from rowsparse.cli import build_app

IN_A_PROCESS = [sys.executable, "-c", "from rowsparse.cli import main; main()"]


def rowsparse(*arguments):
    return CliRunner().invoke(build_app(), [str(argument) for argument in arguments])
