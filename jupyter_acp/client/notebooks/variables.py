# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The expression that lists the variables of a Python kernel without side effects."""

from __future__ import annotations

VARIABLES_LIMIT = 300

# Runs in a separate namespace inside the kernel, which may have another Python version and none
# of our packages. It must import nothing that changes how the user's code behaves.
_SOURCE = """
import inspect, json, reprlib, sys
short = reprlib.Repr()
short.maxstring = short.maxother = short.maxlong = 120
short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdeque = 6
short.maxdict = 6

def shell_names():
    shell = names.get("get_ipython")
    try:
        return shell().user_ns_hidden
    except Exception:
        return {}

def kind_of(value):
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else module + "." + kind.__qualname__

def shape_of(value):
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape):
        return "x".join(map(str, shape)) if shape else "scalar"
    if isinstance(value, (str, bytes, list, tuple, dict, set, frozenset)):
        return str(len(value))
    return None

def look_of(value):
    if isinstance(value, type):
        return "class " + value.__qualname__
    if inspect.isroutine(value):
        return value.__name__ + str(inspect.signature(value))
    columns = getattr(value, "columns", None)
    dtype = getattr(value, "dtype", None)
    if columns is not None and hasattr(value, "dtypes"):
        shown = [str(c) + ": " + str(t) for c, t in zip(list(columns)[:12], list(value.dtypes)[:12])]
        return ", ".join(shown) + (", ..." if len(columns) > 12 else "")
    if dtype is not None and getattr(value, "size", 0) != 1:
        return "dtype " + str(dtype)
    return short.repr(value)

def guarded(look, value):
    try:
        return look(value)
    except Exception as error:
        return "? (" + type(error).__name__ + ")"

hidden = shell_names()
found, imports = [], {}
for name in sorted(key for key in list(names) if isinstance(key, str)):
    if name.startswith("_") or name in ("In", "Out", "exit", "quit", "get_ipython"):
        continue
    value = names[name]
    if name in hidden and hidden[name] is value:
        continue
    if inspect.ismodule(value):
        imports[name] = value.__name__
        continue
    entry = {"name": name, "type": guarded(kind_of, value)}
    shape = guarded(shape_of, value)
    if shape is not None:
        entry["shape"] = shape
    entry["value"] = guarded(look_of, value)[:200]
    found.append(entry)
told = json.dumps({"variables": found[:LIMIT], "more": max(len(found) - LIMIT, 0), "imports": imports})
"""

EXPRESSION = (
    "(lambda space: (__import__('builtins').exec(space.pop('source'), space), space['told'])[1])"
    f"({{'names': globals(), 'LIMIT': {VARIABLES_LIMIT}, 'source': {_SOURCE!r}}})"
)
