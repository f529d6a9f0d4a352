# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Tests of the server extension as Jupyter loads it."""

import subprocess
import sys

import pytest
from traitlets import Integer, TraitError

from jupyter_acp.app import AcpExtension
from jupyter_acp.sessions.manager import SessionManager


class Counting(SessionManager):
    """A manager with a trait of its own."""

    first = Integer(config=True)


def test_nothing_heavy_is_imported_before_the_first_session():
    code = (
        "import sys, jupyter_server.serverapp, jupyter_server.extension.application; "
        "before = set(sys.modules); import jupyter_acp; "
        "(point,) = jupyter_acp._jupyter_server_extension_points(); app = point['app'](); "
        # As Jupyter does when it starts.
        "[getattr(app, name) for name in app.class_own_traits()]; "
        "print(*sorted(set(sys.modules) - before))"
    )
    added = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = added.stdout.split()
    assert "jupyter_acp.app" in names and "jupyter_acp.sessions" not in names
    heavy = {"pydantic", "orjson", "sqlite3", "websockets", "psutil", "acp", "nbformat"}
    assert heavy.isdisjoint(name.split(".")[0] for name in names)


class TestManagerClass:
    @pytest.fixture
    def acp_config(self):
        return {"session_manager_class": f"{__name__}.Counting"}

    @pytest.fixture
    def jp_server_config(self, jp_server_config):
        return {**jp_server_config, "Counting": {"first": 7}}

    async def test_configured_class_manages_the_sessions(self, acp, window, tmp_path):
        session = await window.new(tmp_path)
        manager = await acp.manager()
        assert type(manager).__name__ == "Counting" and manager.first == 7
        assert manager.get(session).id == session
        assert manager.log is acp.log


@pytest.mark.parametrize("name", ["no.such.Manager", "builtins.dict"])
def test_unusable_manager_class_is_refused_at_start(name):
    with pytest.raises(TraitError, match="session_manager_class"):
        AcpExtension(session_manager_class=name)
