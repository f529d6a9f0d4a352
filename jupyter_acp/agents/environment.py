# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Rules for environment variables: which ones agents receive, and which ones they may set."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Jupyter's own credentials and the variables between a server and its kernels. They are matched
# by pattern, because the hub, the proxy and the gateways keep adding new ones.
_SERVER_SECRET = re.compile(
    r"""
      JPY_.*                                                  # token, cookie, session, parent pid
    | (JUPYTER[A-Z]*|CONFIGPROXY|KG|EG|BINDER[A-Z]*)_
      (.*_)?(TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PWD|COOKIE|CREDENTIALS?)(_.*)?
    | JUPYTERHUB_(.*_)?(KEYS?|KEYFILE)(_.*)?                  # JUPYTERHUB_CRYPT_KEY and the like
    | (JUPYTER_GATEWAY|KG|EG)_(.*_)?HEADERS                   # carry Authorization
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Variables that make a program load code, trust a certificate, use a proxy or start another
# program.
_LOADER = re.compile(
    r"""
      (LD|DYLD|GIT|NPM_CONFIG|YARN|PIP|UV|BASH_FUNC|JPY)_.* | (JUPYTER|IPYTHON).*
    | PYTHON(PATH|HOME|STARTUP|INSPECT|USERBASE|PLATLIBDIR|PYCACHEPREFIX|BREAKPOINT|WARNINGS)
    | NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE)
    | BASH_ENV | ENV | SHELLOPTS | BASHOPTS | PS4 | PROMPT_COMMAND | IFS | ZDOTDIR | CDPATH
    | PATH | PATHEXT | COMSPEC | SHELL | HOME | USERPROFILE | TMPDIR
    | PERL5(LIB|OPT|DB) | PERLLIB | RUBY(OPT|LIB) | LUA_(PATH|CPATH|INIT)(_.*)? | PHPRC
    | (JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS | CLASSPATH | DOTNET_STARTUP_HOOKS | COR_.* | CORECLR_.*
    | GCC_EXEC_PREFIX | COMPILER_PATH | PYTHONEXECUTABLE | ERL_[A-Z]*FLAGS | SVN_SSH | SUDO_EDITOR
    | LESS | LESSKEY(IN)? | RIPGREP_CONFIG_PATH | JAVA_HOME | (MAVEN|GRADLE|ANT|SBT|KOTLIN)_OPTS
    | GCONV_PATH | GLIBC_TUNABLES | LOCPATH | NLSPATH | OPENSSL_(CONF|MODULES|ENGINES)
    | SSL_CERT_(FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | SSLKEYLOGFILE
    | (HTTP|HTTPS|FTP|ALL|NO)_PROXY
    | EDITOR | VISUAL | PAGER | MANPAGER | BROWSER | LESSOPEN | LESSCLOSE | SSH_ASKPASS | SUDO_ASKPASS
    | XDG_(CONFIG|DATA)_(HOME|DIRS) | MAKEFILES | MAKEFLAGS | GNUMAKEFLAGS | PYTEST_(ADDOPTS|PLUGINS)
    | TAR_OPTIONS | RSYNC_RSH | CARGO_.* | RUSTC_.* | RUSTFLAGS | GO(FLAGS|PROXY|ENV|PATH|ROOT)
    | R_(PROFILE|ENVIRON)(_USER)? | R_LIBS(_.*)? | JULIA_.* | GEM_.* | BUNDLE_.* | HGRCPATH | VIMINIT
    | EXINIT | CURL_HOME | WGETRC | AWS_(CONFIG|SHARED_CREDENTIALS)_FILE | DOCKER_CONFIG | KUBECONFIG
    """,
    re.VERBOSE | re.IGNORECASE,
)

_SHELLS = {"/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash"}

_HARMLESS = {
    "GIT_TERMINAL_PROMPT": ("0", "1"),
    **dict.fromkeys(("PAGER", "GIT_PAGER"), ("", "cat")),
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"), ("", "true", ":")),
}

# Variables that only change the output of programs, not their actions.
_ORDINARY = re.compile(
    r"""
      CI | TERM | COLORTERM | COLUMNS | LINES | LANG | LANGUAGE | LC_[A-Z]+ | TZ | DEBIAN_FRONTEND
    | NO_COLOR | FORCE_COLOR | CLICOLOR(_FORCE)? | PY_COLORS | VERBOSE | DEBUG
    | PYTHONUNBUFFERED | PYTHONDONTWRITEBYTECODE | PYTHONIOENCODING | PYTHONUTF8 | PYTHONHASHSEED
    """,
    re.VERBOSE,
)


def agent_environment(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment for an agent, without the secrets of the server."""
    kept = {name: value for name, value in base.items() if not is_server_secret(name)}
    # Variables that the administrator configured for this agent are never removed.
    return {**kept, **extra}


def is_server_secret(name: str) -> bool:
    """Return True if a variable is a secret of the Jupyter server."""
    return _SERVER_SECRET.fullmatch(name) is not None


def is_loader_variable(name: str) -> bool:
    """Return True if setting a variable can make a program run other code."""
    return _LOADER.fullmatch(name) is not None


def is_ordinary_variable(name: str, value: str) -> bool:
    """Return True if a variable only changes the output of programs.

    Some variables qualify with certain values only: agents set those to avoid prompts.
    """
    if name == "SHELL":
        return _is_known_shell(value)
    return value in _HARMLESS.get(name, ()) or _ORDINARY.fullmatch(name) is not None


def _is_known_shell(path: str) -> bool:
    """Return True for the user's own shell and for those in `/etc/shells`."""
    if path in _SHELLS or path == os.environ.get("SHELL"):
        return True
    try:
        lines = Path("/etc/shells").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return path.startswith("/") and path in lines
