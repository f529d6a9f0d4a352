# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which environment variables may cross from the server to an agent, and from a stranger to either."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Jupyter's own credentials and its wiring between a server and its kernels. The families are
# matched by shape, since the hub, the proxy and the gateways keep adding members.
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

# Variables that make the next program load code, trust a certificate, use a proxy or find another
# program of somebody else's choosing.
_LOADER = re.compile(
    r"""
      (LD|DYLD|GIT|NPM_CONFIG|YARN|PIP|UV|BASH_FUNC|JPY)_.* | (JUPYTER|IPYTHON).*
    | PYTHON(PATH|HOME|STARTUP|INSPECT|USERBASE|PLATLIBDIR|PYCACHEPREFIX|BREAKPOINT|WARNINGS)
    | NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE)
    | BASH_ENV | ENV | SHELLOPTS | BASHOPTS | PS4 | PROMPT_COMMAND | IFS | ZDOTDIR | CDPATH
    | PATH | PATHEXT | COMSPEC | SHELL | HOME | USERPROFILE | TMPDIR
    | PERL5(LIB|OPT|DB) | PERLLIB | RUBY(OPT|LIB) | LUA_(PATH|CPATH|INIT)(_.*)? | PHPRC
    | (JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS | CLASSPATH | DOTNET_STARTUP_HOOKS | COR_.* | CORECLR_.*
    | GCONV_PATH | GLIBC_TUNABLES | LOCPATH | NLSPATH | OPENSSL_(CONF|MODULES|ENGINES)
    | SSL_CERT_(FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | SSLKEYLOGFILE
    | (HTTP|HTTPS|FTP|ALL|NO)_PROXY
    | EDITOR | VISUAL | PAGER | BROWSER | LESSOPEN | LESSCLOSE | SSH_ASKPASS | SUDO_ASKPASS
    """,
    re.VERBOSE | re.IGNORECASE,
)


def agent_environment(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Give an agent the user's environment, but not the keys to the server that runs it."""
    kept = {name: value for name, value in base.items() if not is_server_secret(name)}
    # What an administrator wrote down for this agent is meant, whatever its name.
    return {**kept, **extra}


def is_server_secret(name: str) -> bool:
    """Whether a variable belongs to the Jupyter server alone."""
    return _SERVER_SECRET.fullmatch(name) is not None


def is_loader_variable(name: str) -> bool:
    """Whether setting a variable is as good as running code, so that a stranger must not."""
    return _LOADER.fullmatch(name) is not None
