# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The real server, called as its OpenAPI description says."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

NOBODY = "00000000-0000-0000-0000-000000000000"


METHODS = ("get", "head", "post", "put", "patch", "delete")


class Checked:
    """Calls the real server; every answer has to be in the file, its body in the schema."""

    def __init__(self, spec: dict[str, Any], fetch: Any) -> None:
        self._spec = spec
        self._fetch = fetch

    async def __call__(
        self, method: str, path: str, status: int, body: Any = None, id: str = "", **query: Any
    ) -> Any:
        response = await self._fetch(
            *path.format(id=id).strip("/").split("/"),
            method=method.upper(),
            body=body if isinstance(body, (str, bytes, type(None))) else json.dumps(body),
            params=query,
            raise_error=False,
            allow_nonstandard_methods=True,
        )
        assert response.code == status, (response.code, response.body)
        self.check(method, path, response)
        return json.loads(response.body) if response.body else None

    def check(self, method: str, path: str, response: Any) -> None:
        answer = self._resolved(self._spec["paths"][path][method]["responses"][str(response.code)])
        if "content" not in answer:
            assert not response.body
            return
        (kind,) = answer["content"]
        assert response.headers["Content-Type"].split(";")[0] == kind
        self.validate(answer["content"][kind]["schema"], json.loads(response.body))

    def validate(self, schema: dict[str, Any], value: Any) -> None:
        # The references are to the root of the file: give them their root.
        whole = {**schema, "components": self._spec["components"]}
        Draft202012Validator(whole, format_checker=FormatChecker()).validate(value)

    def _resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in part:
            return part
        found: Any = self._spec
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return found
