# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Arguments of the tools; models read the descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_TIMEOUT = 60.0
LONGEST_TIMEOUT = 3600.0


class Arguments(BaseModel):
    """Arguments of a tool; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    """Arguments of tools without arguments."""


class Recent(Arguments):
    """`recent_documents`."""

    limit: int = Field(default=20, ge=0, le=1000, description="How many to return at most.")


_PATH = "an absolute path, a path relative to the session's folder, or a file:// URI"
Path = Annotated[
    str | None,
    Field(
        description=(
            f"The notebook: {_PATH}. Left out, it is the notebook that the user is looking at."
        ),
    ),
]
CellId = Annotated[str, Field(min_length=1, description="The cell's id, from read_notebook.")]
After = Annotated[
    str | None, Field(description="Put it right behind the cell with this id.", min_length=1)
]
Index = Annotated[
    int | None,
    Field(ge=0, description="Put it at this place, counted from 0; only without `after`."),
]
Timeout = Annotated[
    float,
    Field(
        gt=0,
        le=LONGEST_TIMEOUT,
        description=(
            f"Seconds until it is interrupted, {LONGEST_TIMEOUT:g} at most. What was printed until "
            "then is returned."
        ),
    ),
]


class OfNotebook(Arguments):
    """Arguments of tools for a notebook."""

    path: Path = None


class OfDocument(Arguments):
    """Arguments of tools for any file."""

    path: str | None = Field(
        default=None,
        description=f"The file: {_PATH}. Left out, it is the one that the user is looking at.",
    )


class ShowDocument(OfDocument):
    """`show_document`."""

    line: int | None = Field(
        default=None, ge=1, description="The line of a text file to show, counted from 1."
    )
    cell_id: str | None = Field(
        default=None,
        min_length=1,
        description="The cell of a notebook to show: its id, from read_notebook.",
    )


class NewCell(Arguments):
    """A cell of a new notebook."""

    type: Literal["code", "markdown", "raw"] = Field(
        default="code", description="What kind of cell it is."
    )
    source: str = Field(description="The source of the cell.")


class CreateNotebook(Arguments):
    """`create_notebook`."""

    path: str = Field(
        min_length=1,
        description=f"The file to make, its name ending in .ipynb: {_PATH}.",
    )
    kernel: str | None = Field(
        default=None,
        description=(
            "The kernel, by its name (list_kernels tells which there are) or its language, for "
            "example python3, python or R. Left out, it is the server's default."
        ),
    )
    cells: list[NewCell] = Field(
        default_factory=list, description="The first cells, from top to bottom; none if left out."
    )


class ReadNotebook(OfNotebook):
    """`read_notebook`."""

    start: int = Field(default=0, ge=0, description="The first cell to return, counted from 0.")
    count: int | None = Field(
        default=None, ge=1, description="How many cells to return; all that fit, if left out."
    )
    cell_ids: list[str] | None = Field(
        default=None, description="Only the cells with these ids, instead of a range."
    )
    images: bool = Field(
        default=False, description="Also return images in outputs, so that you can look at them."
    )


class EditCell(OfNotebook):
    """`edit_cell`."""

    cell_id: CellId
    source: str = Field(description="The new source of the cell, all of it.")
    old_source: str | None = Field(
        default=None,
        description=(
            "What the source is now, as far as you know, all of it. The edit is refused if it is "
            "something else. Left out, it is what you have last read."
        ),
    )


class InsertCell(OfNotebook):
    """`insert_cell`."""

    source: str = Field(description="The source of the new cell.")
    type: Literal["code", "markdown", "raw"] = Field(
        default="code", description="What kind of cell it is."
    )
    after: After = None
    index: Index = None


class OfCell(OfNotebook):
    """Arguments of tools for one cell."""

    cell_id: CellId


class MoveCell(OfCell):
    """`move_cell`."""

    after: After = None
    index: Index = None


class RunCell(OfCell):
    """`run_cell`."""

    timeout: Timeout = DEFAULT_TIMEOUT


class RunCells(OfNotebook):
    """`run_cells`."""

    first: str | None = Field(
        default=None,
        coerce_numbers_to_str=True,
        min_length=1,
        description=(
            "The first cell to run: its id, or its index counted from 0. Left out, the first cell "
            "of the notebook."
        ),
    )
    last: str | None = Field(
        default=None,
        coerce_numbers_to_str=True,
        min_length=1,
        description=(
            "The last cell to run: its id, or its index counted from 0. Left out, the last cell "
            "of the notebook."
        ),
    )
    timeout: float = Field(
        default=DEFAULT_TIMEOUT,
        gt=0,
        le=LONGEST_TIMEOUT,
        description=(
            f"Seconds for all cells together, {LONGEST_TIMEOUT:g} at most. What runs then is "
            "interrupted, and what was printed until then is returned."
        ),
    )


class CellOutput(OfCell):
    """`cell_output`."""

    output: int | None = Field(
        default=None, ge=0, description="Which output, counted from 0; all of them if left out."
    )
    start: int = Field(default=0, ge=0, description="The first character of the text to return.")
    length: int = Field(
        default=20_000, ge=1, le=100_000, description="How many characters of it to return at most."
    )


class RunCode(OfNotebook):
    """`run_code`."""

    code: str = Field(min_length=1, description="The code, in the language of the kernel.")
    timeout: Timeout = DEFAULT_TIMEOUT


def schema(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of arguments, without redundant parts."""
    full = model.model_json_schema()
    return _object(full, full.get("$defs", {}))


def _object(full: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _plain(field, parts) for name, field in full.get("properties", {}).items()}
    told: dict[str, Any] = {"type": "object", "properties": properties}
    if "required" in full:
        told["required"] = full["required"]
    return {**told, "additionalProperties": False}


def _plain(field: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    # Not every agent supports `anyOf`, and an argument that may be null may as well be omitted.
    options = [option for option in field.get("anyOf", []) if option.get("type") != "null"]
    kept = {key: value for key, value in field.items() if key not in ("anyOf", "title")}
    if kept.get("default", ...) is None:
        del kept["default"]
    if isinstance(inner := kept.get("items"), dict) and "$ref" in inner:
        # Not every agent supports references either.
        kept["items"] = _object(parts[inner["$ref"].rpartition("/")[2]], parts)
    return {**(options[0] if options else {}), **kept}
