# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The checks, one function for each section of the report; they change nothing."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_path

from ..agents.catalog import Catalog, Entry
from ..agents.environment import is_server_secret
from ..history.database import SCHEMA_VERSION
from ..remote.local.repository import OLDEST_GIT
from ..rpc import RpcError
from .findings import Finding, bad, good, note

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from ..app import AcpExtension

DISTRIBUTION = "jupyter-acp-bridge"
EXTENSION = "jupyter_acp"
LITTLE_ROOM = 500_000_000
"""Free disk space below which the report contains a note, in bytes."""


def versions() -> list[Finding]:
    """Check the versions of installed software."""
    found = [good(f"Python {platform.python_version()} on {platform.platform(terse=True)}")]
    for name in (DISTRIBUTION, "jupyter_server", "jupyterlab", "jupyterhub"):
        try:
            found.append(good(f"{name} {importlib.metadata.version(name)}"))
        except importlib.metadata.PackageNotFoundError:
            if name != "jupyterhub":
                found.append(bad(f"{name} is not installed", f"pip install {name}"))
    found += _git()
    node = _printed("node", "--version")
    found.append(
        good(f"Node {node}")
        if node
        else note("No Node on the PATH", "Only agents that run with npm (npx) need it.")
    )
    return found


def installation(server: ServerApp) -> tuple[list[Finding], AcpExtension | None]:
    """Check that the server and the lab extension are installed and enabled."""
    found: list[Finding] = []
    manager = server.extension_manager
    known = manager.extensions.get(EXTENSION)
    apps = manager.extension_apps.get(EXTENSION) or set()
    if known is None or not known.enabled:
        found.append(
            bad(
                "The server extension is not enabled",
                f"Run: jupyter server extension enable {EXTENSION}",
            )
        )
    elif not apps:
        found.append(
            bad(
                "The server extension is enabled but does not load",
                "Start `jupyter server --debug` and look for jupyter_acp.",
            )
        )
    else:
        found.append(good("The server extension is enabled and loads"))
    found += _lab_extension()
    found.append(_tools())
    return found, next(iter(apps), None)


def configuration(server: ServerApp, extension: AcpExtension) -> list[Finding]:
    """Check the configuration for unknown, invalid and ineffective settings."""
    found = [good(f"Configuration file: {path}") for path in server.loaded_config_files]
    known = set(extension.class_trait_names(config=True))
    found += [
        bad(
            f"AcpExtension.{name} is not a setting of this version",
            "It has no effect. See docs/configuration.md for the correct name.",
        )
        for name in sorted(set(server.config.get("AcpExtension", {})) - known)
    ]
    found += _misplaced(server)
    try:
        extension.rules()
    except RpcError as error:
        found.append(bad(error.message, "No session can start until this is corrected."))
    else:
        if extension.permissions:
            found.append(good("The rules in AcpExtension.permissions are valid"))
    if not server.identity_provider.auth_enabled:
        found.append(
            note(
                "The server does not require authentication",
                "Anyone who can reach its port can run agents as you. Keep the token enabled.",
            )
        )
    return found or [good("No configuration: all settings have their defaults")]


def agents(extension: AcpExtension) -> tuple[list[Entry], list[Finding]]:
    """Check which agents are available."""
    catalog = Catalog(
        extension.agents,
        allowed=extension.allowed_agents,
        registry=extension.registry,
        default=extension.default_agent,
    )
    entries = catalog.list()
    found = [bad(problem, "See AcpExtension.registry.") for problem in catalog.problems]
    for entry in entries:
        spec = entry.spec
        where = spec.public().get("url") or " ".join(spec.argv[:1])
        if entry.available:
            found.append(good(f"{spec.id} ({spec.name}): {where}"))
        elif spec.source == "config":
            found.append(
                bad(
                    f"{spec.id}: {entry.missing}",
                    entry.install or "Correct its entry in AcpExtension.agents.",
                )
            )
    far = [entry.spec.id for entry in entries if entry.spec.url and entry.spec.takes_tools]
    if far and extension.tools and not extension.public_url:
        found.append(
            note(
                f"Agents at a URL get tools only if they support MCP over ACP: {', '.join(far)}",
                "For agents that support MCP over HTTP, set AcpExtension.public_url to the address at "
                "which they can reach this server.",
            )
        )
    missing = [entry for entry in entries if not entry.available and entry.spec.source != "config"]
    if missing:
        names = ", ".join(entry.spec.id for entry in missing)
        found.append(note(f"Known, but not installed: {names}"))
    default = catalog.default_id
    if not any(entry.spec.id == default and entry.available for entry in entries):
        found.append(
            bad(
                f"New sessions cannot start: the default agent `{default}` is not available",
                "See AcpExtension.default_agent and AcpExtension.allowed_agents.",
            )
        )
    return entries, found


def files(extension: AcpExtension) -> list[Finding]:
    """Check the access rights, the disk space and the integrity of stored files."""
    journal, cache = Path(extension.journal), Path(extension.remote_cache)
    assert extension.serverapp is not None
    runtime = Path(extension.serverapp.runtime_dir)
    found: list[Finding] = []
    for folder in dict.fromkeys((journal.parent, cache, runtime)):
        found += _folder(folder)
    for path in sorted(journal.parent.glob(f"{journal.stem}*")) if journal.parent.is_dir() else []:
        found += _private(path)
        if path.suffix == journal.suffix:
            found += _sessions(path)
    return found


def environment() -> list[Finding]:
    """Check the environment that agents inherit from the server."""
    found: list[Finding] = []
    hidden = sorted(name for name in os.environ if is_server_secret(name))
    if hidden:
        found.append(good(f"Not passed to agents and terminals: {', '.join(hidden)}"))
    home = Path.home()
    if not os.access(home, os.W_OK):
        found.append(
            bad(
                f"The home folder {home} cannot be written to",
                "Agents store their logins and settings there: set HOME to a folder of the user.",
            )
        )
    if user := os.environ.get("JUPYTERHUB_USER"):
        where = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
        found.append(good(f"On a JupyterHub, as {user}, at {where}"))
    if proxies := sorted(name for name in os.environ if name.lower().endswith("_proxy")):
        found.append(good(f"Proxies for agents: {', '.join(proxies)}"))
    return found or [good("Nothing unusual")]


def _misplaced(server: ServerApp) -> Iterator[Finding]:
    """Yield a finding for each file with settings that Jupyter ignores there."""
    for folder in server.config_file_paths:
        for path in sorted(Path(folder, "jupyter_server_config.d").glob("*.json")):
            try:
                written = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(written, dict) and "AcpExtension" in written:
                yield bad(
                    f"AcpExtension in {path} has no effect",
                    "Jupyter reads only the list of enabled extensions from this folder. "
                    f"Move it to {Path(folder, 'jupyter_server_config.json')}.",
                )


def _git() -> Iterator[Finding]:
    printed = _printed("git", "--version")
    wanted = ".".join(map(str, OLDEST_GIT))
    match = re.search(r"(\d+)\.(\d+)", printed)
    if match is None:
        yield note("No git on the PATH", "Only remote sessions need it.")
    elif (int(match[1]), int(match[2])) < OLDEST_GIT:
        yield note(printed, f"Remote sessions need git {wanted} or newer.")
    else:
        yield good(printed)


def _printed(*command: str) -> str:
    """Return the output of a program, empty if there is no such program."""
    program = shutil.which(command[0])
    if program is None:
        return ""
    try:
        run = subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip()


def _tools() -> Finding:
    """Check that the tools for agents load, which otherwise fails only in the first session."""
    try:
        mcp = importlib.import_module("jupyter_acp.tools.mcp")
        tools = importlib.import_module("jupyter_acp.tools.toolbox").TOOLS
        for part in ("channel", "cli"):
            importlib.import_module(f"jupyter_acp.tools.{part}")
        count = len([mcp.described(tool) for tool in tools])
    except Exception as error:
        return bad(
            f"The tools for notebooks do not load: {type(error).__name__}: {error}",
            "No session can start until they load. Run `pip check` to find the package with the "
            "wrong version, and reinstall it.",
        )
    return good(f"The tools for notebooks load ({count})")


def _lab_extension() -> Iterator[Finding]:
    from jupyterlab_server.config import get_federated_extensions, get_page_config

    folders = jupyter_path("labextensions")
    found = get_federated_extensions(folders).get(DISTRIBUTION)
    if found is None:
        yield bad(
            "The lab extension is not installed: JupyterLab has no chat",
            f"Reinstall: pip install --force-reinstall --no-deps {DISTRIBUTION}",
        )
        return
    ours = importlib.metadata.version(DISTRIBUTION)
    if _plain(found["version"]) != _plain(ours):
        yield bad(
            f"The lab extension has version {found['version']}, the server extension {ours}",
            f"The files in {found['ext_dir']} have the wrong version: remove them, or reinstall.",
        )
    disabled = get_page_config(folders).get("disabledExtensions", [])
    if any(name.partition(":")[0] == DISTRIBUTION for name in disabled):
        yield bad(
            "The lab extension is disabled", f"Run: jupyter labextension enable {DISTRIBUTION}"
        )
    else:
        yield good(f"The lab extension is enabled, in {found['ext_dir']}")


def _plain(version: str) -> str:
    """Return a version in a common form for Python (1.0.0a1) and npm (1.0.0-alpha.1)."""
    return re.sub(r"[-.]|(?<=[ab])(lpha|eta)", "", version)


def _folder(folder: Path) -> Iterator[Finding]:
    """Check that a folder is writable, or can be created."""
    nearest = next(at for at in (folder, *folder.parents) if at.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        yield bad(f"{folder} cannot be written to", f"Run: chown -R $USER {nearest}")
        return
    room = shutil.disk_usage(nearest).free
    if nearest == folder:
        yield from _private(folder)
    else:
        yield good(f"{folder} will be created when it is needed")
    if room < LITTLE_ROOM:
        yield note(
            f"Only {room // 1_000_000} MB are free on the disk of {nearest}",
            "Stored sessions need disk space.",
        )
    with tempfile.NamedTemporaryFile(dir=nearest, delete=True):
        pass


def _private(path: Path) -> Iterator[Finding]:
    """Check that only this user can access a file or folder."""
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    wanted = "700" if path.is_dir() else "600"
    if found.st_uid != os.geteuid():
        yield bad(f"{path} belongs to another user", f"Run: chown -R $USER {path}")
    elif mode & 0o077:
        yield bad(f"{path} is accessible to other users ({mode:o})", f"Run: chmod {wanted} {path}")
    else:
        yield good(f"{path} is accessible only to this user ({mode:o})")


def _sessions(journal: Path) -> Iterator[Finding]:
    """Check that a journal can be read; open it read-only, because a server may use it."""
    try:
        db = sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                yield bad(
                    f"{journal.name} was written by a newer version",
                    "Install that version again, or choose another file (AcpExtension.journal).",
                )
                return
            problems = [row[0] for row in db.execute("PRAGMA quick_check(3)")]
            count = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
        finally:
            db.close()
    except sqlite3.Error as error:
        problems, count = [str(error)], 0
    if problems != ["ok"]:
        yield bad(
            f"{journal.name} is damaged: {'; '.join(problems)}",
            f"Replace it with a backup, or recover its readable data with: "
            f"sqlite3 {journal} .recover",
        )
    else:
        size = journal.stat().st_size / 1_000_000
        yield good(f"{journal.name} holds {count:,} sessions in {size:.1f} MB")
