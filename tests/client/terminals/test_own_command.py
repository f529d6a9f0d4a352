# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which commands are nothing but our own program; whatever a shell would do with a line is tried with one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_acp.client.terminals.own_command import is_own_command

ID = "0b7c"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A program of ours, one that only has its name, and links to both."""
    folder = tmp_path_factory.mktemp("own")
    program = folder / "bin" / "jupyter-acp"
    other = folder / "other" / "jupyter-acp"
    for path in (program, other):
        path.parent.mkdir()
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (folder / "links").mkdir()
    (folder / "links" / "jupyter-acp").symlink_to(program)
    (folder / "hard").mkdir()
    os.link(program, folder / "hard" / "jupyter-acp")
    (folder / "empty").mkdir()
    (folder / "folders" / "jupyter-acp").mkdir(parents=True)
    (folder / "plain").mkdir()
    (folder / "plain" / "jupyter-acp").write_text("not to be run\n")
    return folder


def check(world, command, path=None, added=None, session=ID):
    program = str(world / "bin" / "jupyter-acp")
    if isinstance(command, str):
        command = command.replace("PROGRAM", program).replace("WORLD", str(world))
    else:
        command = [w.replace("PROGRAM", program).replace("WORLD", str(world)) for w in command]
    folders = path if path is not None else [world / "empty", world / "bin", "/usr/bin", "/bin"]
    return is_own_command(command, [program], session, os.pathsep.join(map(str, folders)), added)


JSON = """{"cell_id": "a", "source": "print('x') # $HOME `ls`; a && b | c > d"}"""


@pytest.mark.parametrize(
    "command",
    [
        f"PROGRAM tool --session {ID} list_kernels",
        f"jupyter-acp tool --session {ID} list_kernels",
        f"  jupyter-acp   tool --session={ID} --list ",
        "jupyter-acp tool --help",
        f"jupyter-acp tool --session '{ID}' read_notebook --json '{{\"path\": \"a b.ipynb\"}}'",
        f'"PROGRAM" "tool" --session "{ID}" x --json "{{\\"path\\": \\"ä/*.ipynb\\"}}"',
        f"jupyter-acp tool --session {ID} edit_cell --json {shlex.quote(JSON)}",
        f'jupyter-acp tool --session {ID} x --json \'{{"source": "a\\nb"}}\'',
        f"WORLD/links/jupyter-acp tool --session {ID} x",
        f"WORLD/empty/../bin/jupyter-acp tool --session {ID} x",
        ["PROGRAM", "tool", "--session", ID, "edit_cell", "--json", JSON],
        ["jupyter-acp", "tool", "--session", ID, "--list"],
        ["/bin/sh", "-c", f"PROGRAM tool --session {ID} --list"],
        ["bash", "-c", f"jupyter-acp tool --session {ID} --list"],
        ["/bin/bash", "-lc", f"PROGRAM tool --session {ID} --list"],
    ],
)
def test_our_own(world, command):
    assert check(world, command)
    assert check(
        world, command, added={"TERM": "dumb", "LANG": "C", "SHELL": "/bin/sh", "PAGER": "cat"}
    )


TAIL = f"tool --session {ID} list_kernels"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "jupyter-acp",
        "jupyter-acp doctor",
        f"jupyter-acp --session {ID} tool",
        f"jupyter-acp toolbox --session {ID} x",
        f"jupyter-acp $(echo tool) --session {ID} x",
        f"jupyter-acp {TAIL} $(touch x)",
        f"jupyter-acp {TAIL} `touch x`",
        f'jupyter-acp {TAIL} "$(touch x)"',
        f'jupyter-acp {TAIL} "`touch x`"',
        f"jupyter-acp {TAIL} $HOME",
        f'jupyter-acp {TAIL} "$HOME"',
        f'jupyter-acp {TAIL} "\\$HOME"',
        f"jupyter-acp {TAIL} $'a\\x27'",
        f"jupyter-acp {TAIL} ${{IFS}}x",
        f"jupyter-acp {TAIL}; touch x",
        f"jupyter-acp {TAIL};touch x",
        f"jupyter-acp {TAIL} && touch x",
        f"jupyter-acp {TAIL} & touch x",
        f"jupyter-acp {TAIL} &",
        f"jupyter-acp {TAIL} || touch x",
        f"jupyter-acp {TAIL} | sh",
        f"jupyter-acp {TAIL}|sh",
        f"jupyter-acp {TAIL} > x",
        f"jupyter-acp {TAIL} 2>x",
        f"jupyter-acp {TAIL} >>~/.bashrc",
        f"jupyter-acp {TAIL} < /etc/passwd",
        f"jupyter-acp {TAIL} <<END",
        f"jupyter-acp {TAIL} <(touch x)",
        f"jupyter-acp {TAIL}\ntouch x",
        f"jupyter-acp {TAIL}\r\ntouch x",
        f"jupyter-acp {TAIL} '\n'",
        f'jupyter-acp {TAIL} "\n"',
        f"jupyter-acp {TAIL} \\\ntouch",
        f"jupyter-acp {TAIL}\ttouch",
        f"jupyter-acp {TAIL} a\\;b",
        f"jupyter-acp {TAIL} \\'; touch x #'",
        f"jupyter-acp {TAIL} # comment",
        f"jupyter-acp {TAIL} #",
        f"# jupyter-acp {TAIL}",
        f"jupyter-acp {TAIL} ~",
        f"jupyter-acp {TAIL} ~root/x",
        f"jupyter-acp {TAIL} *",
        f"jupyter-acp {TAIL} ?",
        f"jupyter-acp {TAIL} [a]",
        f"jupyter-acp {TAIL} {{a,b}}",
        f"jupyter-acp {TAIL} !!",
        f"jupyter-acp {TAIL} 'open",
        f'jupyter-acp {TAIL} "open',
        f"jupyter-acp {TAIL} \\",
        f"jupyter-acp {TAIL} \0",
        f"jupyter-acp {TAIL} '\x1b'",
        f"(jupyter-acp {TAIL})",
        f"{{ jupyter-acp {TAIL}; }}",
        f"! jupyter-acp {TAIL}",
        f"time jupyter-acp {TAIL}",
        f"exec jupyter-acp {TAIL}",
        f"command jupyter-acp {TAIL}",
        f"sudo jupyter-acp {TAIL}",
        f"nohup jupyter-acp {TAIL}",
        f"env jupyter-acp {TAIL}",
        f"env X=1 jupyter-acp {TAIL}",
        f"X=1 jupyter-acp {TAIL}",
        f"PYTHONPATH=. jupyter-acp {TAIL}",
        f"PATH=. jupyter-acp {TAIL}",
        f"cd /tmp; jupyter-acp {TAIL}",
        f"./jupyter-acp {TAIL}",
        f"bin/jupyter-acp {TAIL}",
        f"~/bin/jupyter-acp {TAIL}",
        f"WORLD/other/jupyter-acp {TAIL}",
        f"WORLD/hard/jupyter-acp {TAIL}",
        f"WORLD/bin/jupyter-acp2 {TAIL}",
        f"jupyter acp {TAIL}",
        f"python -m jupyter_acp {TAIL}",
        f"jupyter-acp\u00a0{TAIL}",
        f"jupyter-acp\u2003{TAIL}",
        f"\uff4aupyter-acp {TAIL}",
        f"sh -c 'jupyter-acp {TAIL}' x",
        f"sh -c 'jupyter-acp {TAIL}; touch x'",
        f"eval 'jupyter-acp {TAIL}'",
        "jupyter-acp tool --session other x",
        "jupyter-acp tool --session=other x",
        f"jupyter-acp tool --session {ID} --session other x",
        f"jupyter-acp tool --session other --session {ID} x",
        f"jupyter-acp tool --session other x -- --session {ID}",
        f"jupyter-acp tool --session {ID} --session= x",
    ],
)
def test_everything_else(world, line):
    assert not check(world, line)
    assert not check(world, ["/bin/sh", "-c", line])


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["PROGRAM"],
        ["PROGRAM", "doctor"],
        # A login shell may find another by that name.
        ["sh", "-lc", f"jupyter-acp {TAIL}"],
        ["sh", "-c", f"PROGRAM {TAIL}", "more"],
        ["sh", "-x", "-c", f"PROGRAM {TAIL}"],
        ["WORLD/other/sh", "-c", f"PROGRAM {TAIL}"],
        ["./sh", "-c", f"PROGRAM {TAIL}"],
        ["zsh", "-c", f"PROGRAM {TAIL}"],
        ["sh", "-c", f"sh -c 'PROGRAM {TAIL}'"],
        ["env", "PROGRAM", *TAIL.split()],
        [f"PROGRAM {TAIL}"],
        ["./jupyter-acp", *TAIL.split()],
        ["PROGRAM", "tool", "--session", "other", "x"],
    ],
)
def test_other_programs(world, argv):
    assert not check(world, argv)


def test_the_name_stands_for_what_is_found_first(world):
    line = f"jupyter-acp {TAIL}"
    ours, other = world / "bin", world / "other"
    assert check(world, line, [ours, other])
    # A folder, and what may not be run, are passed over as a shell passes over them.
    assert check(world, line, [world / "nowhere", world / "folders", world / "plain", ours])
    assert check(world, line, [world / "links", other])
    for path in ([other, ours], [], [""], ["", ours], [".", ours], ["bin", ours], [world / "hard"]):
        assert not check(world, line, path), path


@pytest.mark.parametrize(
    "name",
    [
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PYTHONBREAKPOINT",
        "PYTHONPLATLIBDIR",
        "VIRTUAL_ENV",
        "PATH",
        "LD_PRELOAD",
        "HOME",
        "TMPDIR",
        "ENV",
        "BASH_ENV",
        "BASH_FUNC_jupyter-acp%%",
        "IFS",
        "X",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTER_DATA_DIR",
        "XDG_RUNTIME_DIR",
        "SHELL",
        "PAGER",
    ],
)
def test_variables_that_matter(world, name):
    assert not check(world, f"PROGRAM {TAIL}", added={"TERM": "dumb", name: "x"})


def test_without_a_program_of_ours_nothing_is(world):
    for program in ([], [str(world / "nowhere" / "jupyter-acp")]):
        assert not is_own_command(f"jupyter-acp {TAIL}", program, ID, str(world / "bin"))


PACKAGE = ["/venv/bin/python", "-I", "-m", "jupyter_acp"]


@pytest.mark.parametrize(
    ("line", "is_own"),
    [
        (f"/venv/bin/python -I -m jupyter_acp {TAIL}", True),
        (f"/bin/sh -c '/venv/bin/python -I -m jupyter_acp {TAIL}'", True),
        # It would look for packages in the folder that it is in, or in others.
        (f"/venv/bin/python -m jupyter_acp {TAIL}", False),
        (f"/venv/bin/../bin/python -I -m jupyter_acp {TAIL}", False),
        (f"python -I -m jupyter_acp {TAIL}", False),
        (f"/other/python -I -m jupyter_acp {TAIL}", False),
        (f"/venv/bin/python -I -m other {TAIL}", False),
        (f"/venv/bin/python -I -m jupyter_acp -c x {TAIL}", False),
        (f"/venv/bin/python -I -c x -m jupyter_acp {TAIL}", False),
        ("/venv/bin/python -I -m jupyter_acp doctor", False),
        ("/venv/bin/python -I -m jupyter_acp tool --session other x", False),
        ("/venv/bin/python tool", False),
        ("/venv/bin/python", False),
    ],
)
def test_where_it_is_installed_as_a_package_only(line, is_own):
    assert is_own_command(shlex.split(line), PACKAGE, ID, "/venv/bin") is is_own
    if not line.startswith("/bin/sh"):
        assert is_own_command(line, PACKAGE, ID, "/venv/bin") is is_own


@given(st.text(alphabet=st.sampled_from(" abc/'\"\\$`;&|<>(){}[]*?~#!=%@^\n\t-_é"), max_size=30))
@example("'\\'' \"\\\\\"")
def test_a_shell_sees_the_same_words(tail):
    """What is taken for ours is what a shell makes of it: the words that we have read, and no more."""
    line = f"/bin/true tool {tail}"
    if not is_own_command(line, ["/bin/true"], ID, "/bin"):
        return
    ran = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[:-1] == shlex.split(line)


def test_what_models_write_in_json_is_read_as_it_is(world):
    for source in ("a = 'b'\n\"c\" \\ d", "$x `y` !z", "é 漢 \u2028", "'" * 9):
        given = json.dumps({"source": source}, ensure_ascii=False)
        line = f"PROGRAM tool --session {ID} run_code --json {shlex.quote(given)}"
        assert check(world, line)
        assert check(world, line.replace("'\"'\"'", "'\\''"))
