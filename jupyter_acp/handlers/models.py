# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Models of the request bodies of the REST API."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ..protocol import AbsolutePath


class CreateSession(BaseModel):
    """`POST acp/sessions`."""

    model_config = ConfigDict(extra="forbid")

    agent: str | None = None
    cwd: AbsolutePath | None = None
    title: str = Field(default="", max_length=500)


class PatchSession(BaseModel):
    """`PATCH acp/sessions/ID`."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=500)
