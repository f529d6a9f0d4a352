# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The built-in agent as the public Python SDK sees it: every message passes its models."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from builtindriver import environment, folders

acp = pytest.importorskip("acp")


class SdkClient(acp.Client):  # type: ignore[misc, name-defined]
    """A client as the SDK wants one: files in memory, permission as it is told."""

    def __init__(self, allow: str) -> None:
        self.allow = allow
        self.updates: list[Any] = []
        self.files: dict[str, str] = {}

    async def request_permission(
        self, options: Any, session_id: str, tool_call: Any, **kwargs: Any
    ) -> Any:
        [option] = [option for option in options if option.kind == self.allow]
        outcome = {"outcome": "selected", "optionId": option.option_id}
        return acp.schema.RequestPermissionResponse.model_validate({"outcome": outcome})

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)

    async def read_text_file(self, path: str, session_id: str, **kwargs: Any) -> Any:
        return acp.schema.ReadTextFileResponse(content=self.files[path])

    async def write_text_file(
        self, content: str, path: str, session_id: str, **kwargs: Any
    ) -> None:
        self.files[path] = content

    def on_connect(self, conn: Any) -> None:
        pass


async def edit_with_sdk(state: Path, folder: Path, allow: str) -> SdkClient:
    client = SdkClient(allow)
    client.files[str(folder / "a.py")] = "x = 1 \n"
    async with acp.spawn_agent_process(
        client, sys.executable, "-m", "jupyter_acp.builtin", env=environment(state)
    ) as (agent, _process):
        answer = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=acp.schema.ClientCapabilities.model_validate(
                {
                    "fs": {"readTextFile": True, "writeTextFile": True},
                    "session": {"configOptions": {"boolean": {}}},
                }
            ),
        )
        assert answer.agent_info.name == "jupyter-acp-builtin"
        assert answer.agent_capabilities.session_capabilities.fork is not None
        session = await agent.new_session(cwd=str(folder), mcp_servers=[])
        assert [option.id for option in session.config_options] == [
            "mode",
            "scope",
            "thoughts",
        ]
        text = acp.schema.TextContentBlock(type="text", text="/edit a.py")
        ended = await agent.prompt(session_id=session.session_id, prompt=[text])
        assert ended.stop_reason == "end_turn"
        text = acp.schema.TextContentBlock(type="text", text="/plan")
        await agent.prompt(session_id=session.session_id, prompt=[text])
        listed = await agent.list_sessions(cwd=str(folder))
        assert [info.title for info in listed.sessions] == ["/edit a.py"]
    return client


@pytest.mark.parametrize(
    ("allow", "after"), [("allow_once", "x = 1\n"), ("reject_once", "x = 1 \n")]
)
def test_edit_through_the_sdk(tmp_path: Path, allow: str, after: str) -> None:
    state, folder = folders(tmp_path)
    client = asyncio.run(edit_with_sdk(state, folder, allow))
    assert client.files == {str(folder / "a.py"): after}
    kinds = {update.session_update for update in client.updates}
    assert kinds == {
        "available_commands_update",
        "session_info_update",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "usage_update",
        "plan",
    }
