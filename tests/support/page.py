# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A page with documents, as the server sees it; the real one is tested in a browser."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json

READ, WRITE = "_jupyter/document/read", "_jupyter/document/write"
SAVE, SHOW = "_jupyter/document/save", "_jupyter/document/show"
RUN, RESTART = "_jupyter/notebook/run", "_jupyter/notebook/restart"


class Page:
    """A page with documents: it answers the server as the front end does."""

    def __init__(self, window, root, name="page"):
        self.window, self.root, self.name = window, root, name
        self.contents = {}
        self.versions = {}
        self.dirty = {}
        self.hashes = {}
        """Of the files as they were loaded or saved."""

        self.writes = []
        self.before_write = None
        self.silent = False
        self.run = None
        """Called to run a cell: with the parameters, to return the answer."""

        self.restart = None
        """Called to restart a kernel: the same."""

        self.shown = []
        """What it was asked to show."""

        self.visible = True

        self._running = set()
        self._answering = asyncio.ensure_future(self._answer())

    async def open(self, name, content=None, *, dirty=False):
        """Open a document, with unsaved changes if a content is given."""
        text = (self.root / name).read_text()
        saved = json.loads(text) if name.endswith(".ipynb") else text
        self.contents[name] = saved if content is None else content
        self.versions[name] = 1
        self.dirty[name] = dirty or content is not None
        kind = "notebook" if isinstance(self.contents[name], dict) else "file"
        self.loaded(name)
        document = {"path": name, "languageId": "python", "kind": kind, "dirty": dirty}
        document["fileHash"] = self.hashes[name]
        await self.window.notify(
            "_jupyter/workspace/update",
            {"window": self.name, "documents": [document], "active": name, "focused": True},
        )

    def loaded(self, name):
        """Take the file as it is now for the one that the document is of."""
        self.hashes[name] = hashlib.sha256((self.root / name).read_bytes()).hexdigest()

    def type(self, name, content):
        """Change a document as a user does: without saving."""
        self.contents[name] = content
        self.dirty[name] = True
        self.versions[name] += 1

    async def _answer(self):
        at = 0
        while True:
            await asyncio.sleep(0.005)
            messages, at = self.window.received[at:], len(self.window.received)
            for message in messages:
                if message.get("method") in (RUN, RESTART) and not self.silent:
                    running = asyncio.ensure_future(self._run(message))
                    self._running.add(running)
                    running.add_done_callback(self._running.discard)
                if message.get("method") in (READ, WRITE, SAVE, SHOW) and not self.silent:
                    answer = self._serve(message["method"], message["params"])
                    await self.window.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _run(self, message):
        params = message["params"]
        answer = {"error": {"code": -32002, "message": f"{params['path']} is not open."}}
        act = self.run if message["method"] == RUN else self.restart
        if params["path"] in self.contents and act is not None:
            answer = {"result": await act(params)}
        await self.window.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _serve(self, method, params):
        name = params["path"]
        if method == SHOW:
            self.shown.append(params)
            return {"result": {"visible": self.visible}}
        if name not in self.contents:
            return {"error": {"code": -32002, "message": f"{name} is not open."}}
        content = self.contents[name]
        kind = "notebook" if isinstance(content, dict) else "text"
        if method == READ:
            state = {"version": str(self.versions[name]), "dirty": self.dirty[name]}
            state["fileHash"] = self.hashes[name]
            return {"result": {"format": kind, "content": copy.deepcopy(content), **state}}
        if method == SAVE:
            self._save(name)
            self.dirty[name] = False
            return {"result": {}}
        if self.before_write is not None:
            change, self.before_write = self.before_write, None
            change()
        if params["version"] != str(self.versions[name]):
            return {"result": {"conflict": True, "version": str(self.versions[name])}}
        assert params["format"] == kind
        self.writes.append(params)
        self.type(name, params["content"])
        if params["save"]:
            self._save(name)
        if "onDisk" in params:
            self.hashes[name] = params["onDisk"]["hash"]
        self.dirty[name] = params["onDisk"]["dirty"] if "onDisk" in params else False
        return {"result": {"version": str(self.versions[name])}}

    def _save(self, name):
        content = self.contents[name]
        (self.root / name).write_text(content if isinstance(content, str) else json.dumps(content))
        self.loaded(name)

    def close(self):
        for task in (self._answering, *self._running):
            task.cancel()
