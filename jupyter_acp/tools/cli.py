# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`jupyter-acp tool`: the tools for agents that have a shell and no MCP.

It is started for each call and imports little. It uses the same server and socket as `shim.py`;
the server identifies the user by the socket's credentials, and the session by its id.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import socket
import sys
from typing import Any

from .socket_paths import sockets

DONE, FAILED, WRONG, UNREACHED = range(4)
"""Exit codes; argparse itself uses the third one."""

INTERRUPTED = 130
PATIENCE = 30.0
"""Timeout for a server to say if it has a session, in seconds; tools may take longer."""

ADMIT = b"session "
"""Start of the first line to the server, before the id."""

CHUNK = 65536
HELP = """Call a tool of the user's JupyterLab: read a notebook as the user sees it, edit its cells in place,
run them in its kernel, inspect variables. Notebooks are live: the user sees your changes immediately,
also before they are saved. Prefer these tools to reading or writing .ipynb files."""
EXAMPLES = """\
examples:
  jupyter-acp tool --session ID --list
      all tools, with their arguments
  jupyter-acp tool --session ID --list run_cell
      one tool
  jupyter-acp tool --session ID read_notebook --json '{"path": "analysis.ipynb"}'
      the cells with their ids and outputs; without a path, of the active notebook
  jupyter-acp tool --session ID edit_cell --json '{"cell_id": "a1b2", "source": "x = 1\\nprint(x)"}'
  jupyter-acp tool --session ID run_cell --json '{"cell_id": "a1b2", "timeout": 120}'
  jupyter-acp tool --session ID run_code --json - <<'END'
  {"code": "print('quotes are no trouble here')"}
  END

The ID of the session is in the context that came with the user's message. In a JSON string, a line
break is \\n. The user may be asked before something is run; the command waits for the answer.

exit status:
  0  success: the answer is on stdout; images are written to files that it names
  1  the tool failed, or the user rejected it: the reason is on stderr
  2  invalid arguments
  3  no running Jupyter server of this user has this session
"""


def program() -> list[str]:
    """Return the command that runs this program: the installed script, else the package."""
    path = program_path()
    return [path] if path else [sys.executable, "-I", "-m", "jupyter_acp"]


def program_path() -> str:
    """Return the path of the installed `jupyter-acp`, or an empty text."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files("jupyter-acp-bridge") or []
    except PackageNotFoundError:
        return ""
    for file in listed:
        if file.name in ("jupyter-acp", "jupyter-acp.exe"):
            path = os.path.abspath(str(file.locate()))
            return path if os.path.isfile(path) else ""
    return ""


def main(arguments: list[str]) -> int:
    """Run the command line; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the agent's locale is: notebooks may contain any character.
            stream.reconfigure(encoding="utf-8", errors="replace")
    options = _parse(arguments)
    try:
        server = _Server.of(options.session)
        if options.list:
            words, status = _listed(server, options.name), DONE
        else:
            params = {"name": options.name, "arguments": options.arguments}
            answer = server.ask("tools/call", params)
            words, status = _told(answer["content"]), FAILED if answer["isError"] else DONE
    except RefusedError as error:
        words, status = str(error), FAILED
    except OSError as error:
        words, status = f"The Jupyter server cannot be reached: {error}.", UNREACHED
    except KeyboardInterrupt:
        # The server sees the closed connection, and interrupts the run.
        return INTERRUPTED
    (sys.stderr if status else sys.stdout).write(words + "\n")
    return status


class RefusedError(Exception):
    """The server refused the request."""


class _Server:
    """The connection to the server that has a session."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""
        self._last_id = 0

    @classmethod
    def of(cls, session: str) -> _Server:
        """Connect to the server of this user that has the session."""
        for path in sockets() if hasattr(socket, "AF_UNIX") else []:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.settimeout(PATIENCE)
                connection.connect(path)
                connection.sendall(
                    ADMIT + session.encode("utf-8", "replace").split(b"\n")[0] + b"\n"
                )
                server = cls(connection)
                server.ask("ping", {})
            except OSError:
                # The server was killed, or it does not have the session.
                connection.close()
            else:
                connection.settimeout(None)
                return server
        raise OSError(
            f"no server of this user has a session {session!r} with a running agent; look up "
            "the id in the context of the user's message"
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its result, without a timeout."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self._connection.sendall(json.dumps(message).encode() + b"\n")
        while (answer := json.loads(self._line())).get("id") != self._last_id:
            pass
        if "error" in answer:
            raise RefusedError(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result

    def _line(self) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            chunk = self._connection.recv(CHUNK)
            if not chunk:
                raise OSError("it closed the connection; the session has ended there")
            parts.append(chunk)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="jupyter-acp tool",
        description=HELP,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--session", metavar="ID", required=True, help="the session to work in")
    parser.add_argument("--list", action="store_true", help="show the tools and their arguments")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the tool")
    parser.add_argument(
        "--json",
        metavar="ARGUMENTS",
        default="{}",
        help="the arguments of the tool, a JSON object; - reads stdin",
    )
    options = parser.parse_args(arguments)
    if options.name is None and not options.list:
        parser.error("name a tool, or list all tools with --list")
    written = sys.stdin.read() if options.json == "-" else options.json
    try:
        options.arguments = json.loads(written)
    except ValueError as error:
        parser.error(
            f"--json is not JSON: {error}. Check the quotes, or pass it on stdin (--json -)"
        )
    if not isinstance(options.arguments, dict):
        parser.error('--json must be an object such as {"path": "analysis.ipynb"}')
    return options


def _listed(server: _Server, name: str | None) -> str:
    tools = server.ask("tools/list", {})["tools"]
    chosen = [tool for tool in tools if name in (None, tool["name"])]
    if not chosen:
        names = ", ".join(tool["name"] for tool in tools)
        raise RefusedError(f"There is no tool {name}; there are: {names}.")
    return "\n\n".join(map(_described, chosen))


def _described(tool: dict[str, Any]) -> str:
    schema = tool["inputSchema"]
    lines = [tool["name"], f"  {tool['description']}"]
    for name, field in schema["properties"].items():
        kind = (
            " or ".join(map(repr, field["enum"])) if "enum" in field else field.get("type", "any")
        )
        needed = "needed" if name in schema.get("required", []) else "optional"
        if "default" in field:
            needed = f"{json.dumps(field['default'])} if left out"
        lines.append(f"    {name} ({kind}, {needed}): {field.get('description', '')}")
    return "\n".join(lines)


def _told(content: list[dict[str, Any]]) -> str:
    """Return an answer as text; save any other content to files."""
    lines: list[str] = []
    folder = ""
    for number, block in enumerate(content):
        if block["type"] == "text":
            lines.append(block["text"])
            continue
        import base64
        import tempfile

        folder = folder or tempfile.mkdtemp(prefix="jupyter-acp-")
        kind = block.get("mimeType", "application/octet-stream")
        ending = "".join(c for c in kind.rpartition("/")[2] if c.isalnum()) or "bin"
        path = os.path.join(folder, f"{number}.{ending}")
        with open(path, "wb") as file:
            file.write(base64.b64decode(block.get("data", "")))
        lines.append(f"[{kind}: {path}]")
    return "\n".join(lines)
