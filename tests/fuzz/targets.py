# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The same properties as in the tests beside, looked for by following the code: with atheris, where it runs.

    pip install atheris
    python tests/fuzz/targets.py framing -max_total_time=60

What it finds is printed and saved by libFuzzer as `crash-…`; it becomes a test with a name.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["jupyter_acp"]):
    from jupyter_acp.client.documents.formats import NOTEBOOK
    from jupyter_acp.client.documents.merge import ConflictError, merge_texts
    from jupyter_acp.client.permissions.protected_files import (
        folded,
        needs_permission,
        risk_of_writing,
    )
    from jupyter_acp.paths import contained, uri_path
    from jupyter_acp.remote.refs import RefError, address_of, check_branch, public_url
    from jupyter_acp.rpc import RpcError
    from jupyter_acp.rpc.stdio import LineSplitter

ROOT = Path(tempfile.mkdtemp(prefix="jupyter-acp-fuzz-")).resolve()
(ROOT / "in").mkdir()
(ROOT / "out").mkdir()
(ROOT / "in" / "link").symlink_to(ROOT / "out")


def framing(data: bytes) -> None:
    """However a stream is cut, its lines are the same."""
    source = atheris.FuzzedDataProvider(data)
    cuts = [source.ConsumeIntInRange(0, 64) for _ in range(8)]
    stream = source.ConsumeBytes(len(data))
    whole, parts = LineSplitter(1024), LineSplitter(1024)
    expected = list(whole.feed(stream))
    found, rest = [], stream
    for cut in cuts:
        found += parts.feed(rest[:cut])
        rest = rest[cut:]
    found += parts.feed(rest)
    assert list(map(repr, found)) == list(map(repr, expected))


def paths(data: bytes) -> None:
    """Nothing is contained that leads outside, and no name is folded twice."""
    text = atheris.FuzzedDataProvider(data).ConsumeUnicode(200)
    assert folded(folded(text)) == folded(text)
    try:
        target = contained(os.path.join(ROOT, "in", uri_path(text)), [str(ROOT / "in")])
    except RpcError:
        return
    assert target.is_relative_to(ROOT / "in") and not target.is_relative_to(ROOT / "out")
    if risk_of_writing(target, [str(ROOT)]) is not None:
        assert needs_permission(target, [str(ROOT)], "write")


def refs(data: bytes) -> None:
    """What is taken for an address or a branch is no option, and shows no password."""
    text = atheris.FuzzedDataProvider(data).ConsumeUnicodeNoSurrogates(200)
    try:
        address_of(text)
        assert not text.startswith("-") and "\n" not in text
        assert address_of(public_url(text)) == address_of(text)
    except RefError:
        pass
    with contextlib.suppress(RefError):
        assert not check_branch(text).startswith("-")


def merges(data: bytes) -> None:
    """A merge invents nothing, and refuses in one way only; so do notebooks."""
    source = atheris.FuzzedDataProvider(data)
    base, ours, theirs = (source.ConsumeUnicodeNoSurrogates(60) for _ in range(3))
    try:
        merged = merge_texts(base, ours, theirs)
    except ConflictError:
        merged = None
    known = {line for text in (base, ours, theirs) for line in text.splitlines(keepends=True)}
    assert merged is None or set(merged.splitlines(keepends=True)) <= known
    with contextlib.suppress(ValueError):
        NOTEBOOK.parse(source.ConsumeUnicodeNoSurrogates(2000))


TARGETS = {each.__name__: each for each in (framing, paths, refs, merges)}

if __name__ == "__main__":
    logging.disable()
    name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"Which one? {', '.join(TARGETS)}")
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()
