# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Changes that are taken back in a text that has gone on since."""

from __future__ import annotations

import json

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_acp.client.documents.merge import ConflictError
from jupyter_acp.client.documents.revise import revise_notebook, revise_text


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("a\nB\nc\n", "a\nB\nc\n", "a\nb\nc\n", "a\nb\nc\n"),
        # A piece of the file is all that is known.
        ("x\na\nB\ny\n", "B", "b", "x\na\nb\ny\n"),
        # The user has gone on elsewhere.
        ("a\nB\nc\nmine\n", "a\nB\nc\n", "a\nb\nc\n", "a\nb\nc\nmine\n"),
        ("mine\na\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nb\nc\nD\n", "mine\na\nb\nc\nd\n"),
        ("MINE\nB\nc\n", "a\nB\nc\n", "a\nb\nc\n", "MINE\nb\nc\n"),
        ("a\r\nB\r\n", "B\n", "b\n", "a\r\nb\r\n"),
        # Something was put in, and is to go; or the other way round.
        ("a\nnew\nb\n", "a\nnew\nb\n", "a\nb\n", "a\nb\n"),
        ("a\nb\n", "a\nb\n", "a\nnew\nb\n", "a\nnew\nb\n"),
        ("", "", "a\n", "a\n"),
        # Put in beside something that is another by now: nobody knows where that is.
        ("def g():\n  pass\n", "def f():\n", "def f():\n  return 1\n", None),
        ("def g():\n  pass\n", "def f():\n", "# first\ndef f():\n", None),
        ("my foo\n", "foo\n", "bar\n", None),
        ("a\na\na\n", "a\na\n", "b\n", None),
        # Line ends: those of a window, and of whoever mixes them.
        ("a\nB\n", "a\r\nB\r\n", "a\r\nb\r\n", "a\nb\n"),
        ("a\r\nb\nX\n", "X\n", "Y\n", "a\r\nb\nY\n"),
        # Gone, or there twice: nobody knows which one was meant.
        ("a\n?\nc\n", "a\nB\nc\n", "a\nb\nc\n", None),
        ("B\nB\n", "B", "b", None),
        # Part of a word is another word.
        ("y = 10\nmax = 100\n", "x = 10", "x = 1", None),
        ("x = 10\ny = 2\n", "x = 1", "x = 0", None),
        ("x = 10\nmax = 10\n", "x = 10", "x = 1", "x = 1\nmax = 10\n"),
        ("f(x) + 1\n", "f(x)", "g(x)", "g(x) + 1\n"),
        ("他说今天好。\n", "今天", "明天", "他说明天好。\n"),
        # A piece that begins behind the indentation of its line.
        ("    return 1\n", "return 1\n", "return 0\n", "    return 0\n"),
        ("a\n\tif b:\n\t\tc\n", "if b:\n\t\tc\n", "c\n", "a\n\tc\n"),
        ("    return 1\n", "  return 1\n", "  return 0\n", None),
        ("def f():\n    a\n", "\n    a\n", "\n    b\n", "def f():\n    b\n"),
        # Made already.
        ("a\nb\n", "a\n", "a\nb\n", "a\nb\n"),
        ("x\na\nb\ny\n", "a\n", "a\nb\n", "x\na\nb\ny\n"),
        ("x\nb\na\ny\n", "a\n", "b\na\n", "x\nb\na\ny\n"),
        ("a\n", "a\nb\n", "a\n", "a\n"),
        ("a\nc\n", "a\n", "a\nb\n", "a\nb\nc\n"),
        # A carriage return that ends no line, or all of them.
        ("a\rb\r\nX\r\n", "X\r\n", "Y\r\n", "a\rb\r\nY\r\n"),
        ("a\rb\r\nX\r\n", "a\rb\nX\n", "a\rb\nY\n", "a\rb\r\nY\r\n"),
        ("mine\ra\rB\r", "a\rB\r", "a\rb\r", "mine\ra\rb\r"),
        ("mine\na\nB\n", "a\rB\n", "a\rb\n", "mine\na\nb\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n"),
    ],
)
def test_texts(text, before, after, expected):
    if expected is None:
        with pytest.raises(ConflictError):
            revise_text(text, before, after)
    else:
        assert revise_text(text, before, after) == expected


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("print(10)\n", "10", "1", None),
        ("    a\n", "a\n", "b\n", None),
        ("f()\n10\n", "10", "1", "f()\n1\n"),
        ("mine\na\nB\n", "a\nB\n", "a\nb\n", "mine\na\nb\n"),
        ("a\nB\nmine\n", "a\nB", "a\nb", "a\nb\nmine\n"),
    ],
)
def test_what_was_a_whole_file_is_no_piece_of_a_line(text, before, after, expected):
    if expected is None:
        with pytest.raises(ConflictError):
            revise_text(text, before, after, whole=True)
    else:
        assert revise_text(text, before, after, whole=True) == expected


def notebook(*cells):
    return new_notebook(cells=[new_code_cell(source, id=id) for id, source in cells])


def sources(value):
    return {cell["id"]: cell["source"] for cell in value["cells"]}


def test_cells():
    now = notebook(("a", "1"), ("b", "B"), ("mine", "3"))
    now.cells[1].outputs = [{"output_type": "stream", "name": "stdout", "text": "out"}]
    before, after = notebook(("a", "1"), ("b", "B")), notebook(("a", "1"), ("b", "b"))
    revised = revise_notebook(now, json.dumps(before), json.dumps(after))
    assert sources(revised) == {"a": "1", "b": "b", "mine": "3"}
    assert revised["cells"][1]["outputs"] == now.cells[1].outputs


def test_cells_that_came_and_went():
    now = notebook(("a", "1"), ("new", "x"), ("mine", "3"))
    before, after = notebook(("a", "1"), ("new", "x")), notebook(("a", "1"), ("old", "y"))
    revised = revise_notebook(now, json.dumps(before), json.dumps(after))
    assert list(sources(revised)) == ["a", "old", "mine"]


def test_a_piece_of_a_cell():
    now = notebook(("a", "one\ntwo"), ("b", "three"))
    assert sources(revise_notebook(now, "two", "2")) == {"a": "one\n2", "b": "three"}
    # In the second cell it is only a part of a word.
    now = notebook(("a", "one\ntwo"), ("b", "twofold"))
    assert sources(revise_notebook(now, "two", "2")) == {"a": "one\n2", "b": "twofold"}
    for piece in ("four", "t", ""):
        with pytest.raises(ConflictError):
            revise_notebook(now, piece, "?")
