# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The baseline: a bare tornado handler that forwards each line in a frame of its own, unparsed."""

import asyncio
import sys

from tornado.web import Application
from tornado.websocket import WebSocketClosedError, WebSocketHandler


class Raw(WebSocketHandler):
    async def open(self):
        self.set_nodelay(True)
        self.agent = await asyncio.create_subprocess_exec(
            *sys.argv[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=256 * 1024 * 1024,
        )
        self.task = asyncio.ensure_future(self.forward())

    async def forward(self):
        try:
            while line := await self.agent.stdout.readline():
                await self.write_message(line)
        except WebSocketClosedError:
            pass

    async def on_message(self, message):
        self.agent.stdin.write(message.encode() + b"\n")
        await self.agent.stdin.drain()

    def on_close(self):
        self.agent.kill()


async def main():
    server = Application([("/", Raw)], websocket_max_message_size=1 << 30).listen(0, "127.0.0.1")
    (socket,) = server._sockets.values()
    print(socket.getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
