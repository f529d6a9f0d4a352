# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that agents may access only with permission, and the risks of writing some."""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from ...paths import innermost


class Risk(NamedTuple):
    """A side effect of writing a file."""

    id: str
    """Id for our windows, which translate it."""

    words: str
    """Description for other clients."""


_GIT = Risk("git", "Git runs programs that this file can define: hooks, filters, aliases.")
_AUTOMATION = Risk(
    "automation", "The commands in this file run with each commit, here or on another machine."
)
_JUPYTER = Risk("jupyter", "Jupyter runs or reads this file when a server or a kernel starts.")
_PYTHON = Risk("python", "Python runs this file at every start.")
_SHELL = Risk("shell", "Shells run this file at every start.")
_EDITOR = Risk("editor", "Editors run tasks and programs from this file.")
_AGENT = Risk("agent", "Agents start programs from this file and follow its instructions.")
_LOGIN = Risk(
    "login", "This file controls who can log in as you, or which programs run when you log in."
)
_PACKAGES = Risk(
    "packages", "This file controls where packages are installed from, and can run programs."
)

# By the folded name of the file or of any folder in its path, also above the session's folders:
# files that run by themselves do so there, too.
_NAMES = {
    **dict.fromkeys((".git", "git~1", ".gitconfig", ".gitmodules", ".gitattributes"), _GIT),
    **dict.fromkeys((".hg", ".hgrc"), _GIT),
    ".githooks": _GIT,
    **dict.fromkeys((".husky", ".pre-commit-config.yaml", ".gitlab-ci.yml"), _AUTOMATION),
    **dict.fromkeys(("lefthook.yml", "lefthook.yaml", "lefthook.toml"), _AUTOMATION),
    **dict.fromkeys((".lefthook.yml", ".lefthook.yaml", ".overcommit.yml"), _AUTOMATION),
    **dict.fromkeys((".jupyter", ".ipython", "kernel.json", "overrides.json"), _JUPYTER),
    **dict.fromkeys(("overrides.json5", "jupyter_server_config.d"), _JUPYTER),
    **dict.fromkeys(("jupyter_notebook_config.d", "jupyterhub_config.py"), _JUPYTER),
    "labconfig": _JUPYTER,
    **dict.fromkeys(("sitecustomize.py", "usercustomize.py", ".pdbrc", ".pdbrc.py"), _PYTHON),
    **dict.fromkeys(("site-packages", "dist-packages"), _PYTHON),
    **dict.fromkeys((".bashrc", ".bash_profile", ".bash_login", ".bash_logout"), _SHELL),
    **dict.fromkeys((".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile"), _SHELL),
    **dict.fromkeys((".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"), _SHELL),
    **dict.fromkeys((".envrc", ".inputrc", "config.fish", "activate.d", ".tmux.conf"), _SHELL),
    **dict.fromkeys((".bash_completion", ".bashrc.d", ".zshrc.d", ".oh-my-zsh", ".zsh"), _SHELL),
    **dict.fromkeys((".mkshrc", ".shrc", ".shinit", ".xonshrc", ".logout"), _SHELL),
    **dict.fromkeys((".screenrc", "mise.toml", ".mise.toml", ".tool-versions"), _SHELL),
    **dict.fromkeys((".vscode", ".cursor", ".idea", ".zed", ".vim", ".vimrc", ".emacs"), _EDITOR),
    **dict.fromkeys((".vscode-server", ".vscode-insiders", ".vscode-oss", ".ideavimrc"), _EDITOR),
    **dict.fromkeys((".emacs.d", ".exrc", ".nvimrc", ".devcontainer", ".gdbinit"), _EDITOR),
    **dict.fromkeys((".claude", ".claude.json", ".mcp.json", "mcp.json", ".codex"), _AGENT),
    **dict.fromkeys((".gemini", ".qwen", ".opencode", "opencode.json", ".goosehints"), _AGENT),
    **dict.fromkeys((".continue", ".windsurf", ".kiro", ".roo", ".amazonq", ".augment"), _AGENT),
    **dict.fromkeys((".aider.conf.yml", ".cursorrules", ".clinerules", ".copilot"), _AGENT),
    **dict.fromkeys(("crush.json", ".crush", "claude_desktop_config.json"), _AGENT),
    **dict.fromkeys((".ssh", ".gnupg", ".netrc", ".pam_environment", ".xprofile"), _LOGIN),
    **dict.fromkeys((".xinitrc", ".xsession", ".xsessionrc", ".rhosts", ".forward"), _LOGIN),
    **dict.fromkeys(("launchagents", "launchdaemons", ".aws", ".kube", ".docker"), _LOGIN),
    **dict.fromkeys((".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".condarc"), _PACKAGES),
    **dict.fromkeys((".cargo", ".pip", ".conda", ".rprofile", ".renviron", ".julia"), _PACKAGES),
    **dict.fromkeys(("pip.conf", "pip.ini", "uv.toml", "bunfig.toml", ".pnpmfile.cjs"), _PACKAGES),
    **dict.fromkeys(
        (".gradle", ".m2", ".sbt", ".bazelrc", ".bundle", ".gemrc", ".yarn"), _PACKAGES
    ),
}
_PATTERNS = {
    "jupyter_*config.py": _JUPYTER,
    "jupyter_*config.json": _JUPYTER,
    "ipython*_config.py": _JUPYTER,
}
# A folder and an entry in it that are harmless by either name alone.
_PAIRS = {
    **dict.fromkeys(((".config", "git"), (".config", "jj")), _GIT),
    (".github", "workflows"): _AUTOMATION,
    **dict.fromkeys(((".config", "jupyter"), (".config", "ipython")), _JUPYTER),
    ("library", "jupyter"): _JUPYTER,
    **dict.fromkeys(((".config", "fish"), (".config", "direnv"), (".config", "mise")), _SHELL),
    **dict.fromkeys(((".config", "nushell"), (".config", "powershell")), _SHELL),
    **dict.fromkeys(((".config", "xonsh"), (".config", "tmux"), (".config", "zsh")), _SHELL),
    **dict.fromkeys(((".config", "nvim"), (".config", "zed"), (".config", "code")), _EDITOR),
    **dict.fromkeys(((".config", "goose"), (".config", "opencode")), _AGENT),
    **dict.fromkeys(((".config", "systemd"), (".config", "autostart")), _LOGIN),
    **dict.fromkeys((("share", "systemd"), (".config", "plasma-workspace")), _LOGIN),
    **dict.fromkeys(((".config", "environment.d"), (".local", "bin")), _LOGIN),
    **dict.fromkeys(((".config", "pip"), (".config", "uv")), _PACKAGES),
    **dict.fromkeys((("bin", "activate"), ("bin", "activate.fish")), _SHELL),
    **dict.fromkeys((("bin", "activate.csh"), ("etc", "profile.d")), _SHELL),
}
# Only below the folders of the session, which may themselves be in one of these.
_PAIRS_INSIDE = {
    **dict.fromkeys((("share", "jupyter"), ("etc", "jupyter"), ("etc", "ipython")), _JUPYTER),
}
_SUFFIXES = {".code-workspace": _EDITOR}
# Entries of a bare git repository, whatever its name.
_REPOSITORY = {"head", "config", "commondir", "hooks", "objects", "refs"}

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Invisible characters, which some file systems ignore in names."""


def needs_permission(path: Path, roots: Sequence[str], kind: Literal["read", "write"]) -> bool:
    """Return True if an agent needs permission to read or write a file.

    It does for hidden files and folders, such as `.git` and `.ssh`, for settings that may hold
    secrets and, to write, for files with a risk. The folders of the session do not count as hidden.
    """
    inside = _inside(path, roots)
    is_hidden = any(name.startswith(".") or folded(name).startswith(".") for name in inside)
    if is_hidden or _by_pattern(path) is not None:
        return True
    return kind == "write" and risk_of_writing(path, roots) is not None


def risk_of_writing(path: Path, roots: Sequence[str]) -> Risk | None:
    """Return the risk of writing a file, which need not exist yet; None if there is no risk."""
    names = [folded(part) for part in path.parts]
    inside = [folded(part) for part in _inside(path, roots)]
    found = [
        *(_NAMES.get(name) for name in names),
        *(_PAIRS.get(pair) for pair in itertools.pairwise(names)),
        *(_PAIRS_INSIDE.get(pair) for pair in itertools.pairwise(inside)),
        _by_pattern(path),
        _SUFFIXES.get(PurePath(names[-1]).suffix),
        _GIT if _is_in_repository(path, names) else None,
    ]
    return next((risk for risk in found if risk is not None), None)


def _by_pattern(path: Path) -> Risk | None:
    name = folded(path.name)
    found = (risk for pattern, risk in _PATTERNS.items() if fnmatchcase(name, pattern))
    return next(found, None)


def _is_in_repository(path: Path, names: list[str]) -> bool:
    """Return True if writing the file would create or change a bare git repository."""
    if not _REPOSITORY.intersection(names[-2:]):
        return False
    # The folder of the file or, for a file in an entry such as `hooks`, the one above.
    folder = path.parent.parent if names[-1] not in _REPOSITORY else path.parent
    try:
        present = {folded(entry) for entry in os.listdir(folder)}
    except OSError:
        return False
    return len((present | set(names[-2:])) & _REPOSITORY) >= 2


def _inside(path: Path, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of the path below the innermost folder of the session."""
    root = innermost(path, roots)
    return path.relative_to(root).parts if root is not None else path.parts


def folded_path(path: str) -> str:
    """Return a path with each of its names folded."""
    return "/".join(map(folded, path.split("/")))


def folded_pattern(pattern: str) -> str:
    """Return a pattern for folded paths; unlike a name, it is not cut."""
    return _lenient(pattern)


def folded(name: str) -> str:
    """Return the form of a name that is equal for all names that a file system may confuse.

    File systems may ignore upper and lower case, the encoding of accents, invisible characters,
    dots and spaces at the end, and everything behind a colon.
    """
    return _lenient(name).partition(":")[0].rstrip(" .")


def _lenient(text: str) -> str:
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)))
    return unicodedata.normalize("NFKC", seen.casefold())
