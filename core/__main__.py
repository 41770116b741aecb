"""`python -m core`: the command line, and with `mcp` the server of one assistant."""

import argparse
import sys

from core.cli import main


def serve_mcp(_: argparse.Namespace) -> int:
    from core.mcp.stdio import serve  # not for the other commands: the protocol's package takes its time

    return serve()


if __name__ == "__main__":
    sys.exit(main(more=[("mcp", "serve an assistant over standard input and output (MCP)", serve_mcp)]))
