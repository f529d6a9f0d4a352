# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The way of a message from an agent to its windows."""


async def test_first_prompt(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["chunk", "hello"], ["flood", 2000, 50])
    assert response["result"]["stopReason"] == "end_turn"
    assert window.texts()[0] == "hello"
    numbers = [int(text.split()[0]) for text in window.texts()[1:]]
    assert numbers == list(range(2000))
    assert window.received[-1] is response
    seqs = window.seqs(session)
    assert seqs == list(range(1, len(seqs) + 1))
