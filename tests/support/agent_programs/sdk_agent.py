# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent on the PyPI `agent-client-protocol` SDK; `js/sdk_agent.mjs` is its twin on the npm one.

The prompt's text is a JSON list of steps, as for the scripted agent; STEPS has their names.
"""

import asyncio
import json
from typing import Any

import acp
from acp.schema import AgentCapabilities, Implementation, PermissionOption, ToolCallUpdate

OPTIONS = [
    PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]


class SdkAgent(acp.Agent):
    def __init__(self) -> None:
        self.sessions: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=AgentCapabilities(load_session=True),
            agent_info=Implementation(name="sdk-python", version="1"),
        )

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        id = f"same-{len(self.sessions) + 1}"
        self.sessions[id] = asyncio.Event()
        return acp.NewSessionResponse(session_id=id)

    async def load_session(self, session_id: str, **_: Any) -> acp.LoadSessionResponse:
        self.sessions[session_id] = asyncio.Event()
        await self.say(session_id, "chunk 0")
        return acp.LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        self.sessions[session_id].clear()
        for name, *args in json.loads(prompt[0].text):
            await STEPS[name](self, session_id, *args)
        cancelled = self.sessions[session_id].is_set()
        return acp.PromptResponse(stop_reason="cancelled" if cancelled else "end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.sessions[session_id].set()

    async def say(self, session: str, text: str) -> None:
        await self.client.session_update(session, acp.update_agent_message_text(text))

    async def stream(self, session: str, count: int) -> None:
        for number in range(count):
            await self.say(session, f"chunk {number}")

    async def ask(self, session: str) -> None:
        await self.client.session_update(session, acp.start_tool_call("call-1", "Do it"))
        answer = await self.client.request_permission(
            session_id=session, tool_call=ToolCallUpdate(tool_call_id="call-1"), options=OPTIONS
        )
        outcome = answer.outcome
        await self.say(session, getattr(outcome, "option_id", None) or outcome.outcome)

    async def write(self, session: str, path: str, text: str) -> None:
        await self.client.write_text_file(session_id=session, path=path, content=text)
        back = await self.client.read_text_file(session_id=session, path=path)
        await self.say(session, f"read back {back.content}")

    async def run(self, session: str, command: str, *args: str) -> None:
        terminal = await self.client.create_terminal(
            session_id=session, command=command, args=list(args)
        )
        key = {"session_id": session, "terminal_id": terminal.terminal_id}
        exit = await self.client.wait_for_terminal_exit(**key)
        output = await self.client.terminal_output(**key)
        await self.client.release_terminal(**key)
        await self.say(session, f"exit {exit.exit_code}: {output.output}")

    async def until_cancel(self, session: str) -> None:
        await self.say(session, "waiting")
        await self.sessions[session].wait()


STEPS = {
    "stream": SdkAgent.stream,
    "ask": SdkAgent.ask,
    "write": SdkAgent.write,
    "run": SdkAgent.run,
    "until_cancel": SdkAgent.until_cancel,
}

asyncio.run(acp.run_agent(SdkAgent()))
