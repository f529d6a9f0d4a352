# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents and servers die at any moment, one loses what it has not saved, the other remembers: in the
end all was said once. What `test_chaos` does with processes, without them: more often than time allows.
"""

from __future__ import annotations

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_acp.sessions.passages import AFTER, ended_calls, history
from jupyter_acp.sessions.replay import Replay

USER, AGENT = "user_message_chunk", "agent_message_chunk"


class World:
    """A journal, and an agent that repeats everything when it is started."""

    def __init__(self) -> None:
        self.journal: list[tuple[str, dict, dict]] = []
        self.memory: list[dict] = []
        self.asked = 0

    def write(self, method, params, **mark):
        self.journal.append((method, params, mark))

    def say(self, kind, text):
        update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        params = {"sessionId": "theirs", "update": update}
        self.memory.append(params)
        return params

    def turn(self, chunks, answered, extra):
        """Let a user ask; the answer is cut off if the agent dies, maybe with a chunk on its way."""
        self.asked += 1
        prompt = {"sessionUpdate": USER, "content": {"type": "text", "text": f"ask {self.asked}"}}
        self.write("session/update", {"update": prompt}, promptId=f"p{self.asked}")
        self.write("_jupyter/session/state", {"state": "running"})
        yield "asked"
        self.say(USER, f"ask {self.asked}")
        for number in range(min(chunks, answered)):
            self.write("session/update", self.say(AGENT, f"{self.asked}:{number} "))
        if answered < chunks and extra:
            self.say(AGENT, f"{self.asked}:{answered} ")
        self.write("_jupyter/session/state", {"state": "idle"})
        yield "answered"

    def load(self):
        lines = [
            orjson.dumps(
                {
                    "method": method,
                    "params": {**params, "_meta": {"jupyter-acp": {"seq": n, **mark}}},
                }
            )
            for n, (method, params, mark) in enumerate(self.journal, 1)
        ]
        replay = Replay(history(lines), ended_calls(lines))
        for params in self.memory:
            replay.take(params)
        news = replay.news()
        for params, after in news:
            self.write("session/update", params, **({AFTER: after} if replay.has_past else {}))
        yield "told"
        self.write("_jupyter/session/restored", {})
        yield "restored"

    def lose(self, count):
        """Kill the server: the end of the journal was not saved yet."""
        del self.journal[max(len(self.journal) - count, 0) :]

    def words(self, kind):
        return [
            params["update"]["content"]["text"]
            for method, params, _ in self.journal
            if method == "session/update" and params["update"]["sessionUpdate"] == kind
        ]


LOST = st.integers(0, 8)
TURNS = st.tuples(
    st.integers(1, 8),  # chunks
    st.integers(0, 8),  # of which the agent says so many before it dies
    st.booleans(),  # and maybe one more that nobody hears
    st.sampled_from(["no", "before", "asked", "told", "restored", "answered"]),  # the server dies
    LOST,
)


@settings(max_examples=1000)
@given(st.lists(TURNS, min_size=1, max_size=6))
def test_whatever_is_lost_and_remembered_is_told_once(turns):
    world = World()
    is_there = True
    for chunks, answered, extra, death, lost in turns:

        def died(at, death=death, lost=lost):
            if at != death:
                return False
            world.lose(lost)
            return True

        if died("before"):
            is_there = False
        asking = world.turn(chunks, answered, extra)
        next(asking)
        if died("asked"):
            is_there = False
            continue
        if not is_there and any(died(at) for at in world.load()):
            is_there = False
            continue
        is_there = answered >= chunks
        next(asking)
        if died("answered"):
            is_there = False
    list(world.load())
    spoken, asked = world.words(AGENT), world.words(USER)
    remembered = [p["update"]["content"]["text"] for p in world.memory]
    assert sorted(set(spoken)) == sorted(spoken), "each once"
    assert sorted(set(asked)) == sorted(asked), "each question once"
    assert set(remembered) <= {*spoken, *asked}, "nothing is missing"
