# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The names of methods in ACP and in our extensions, and models for the requests that we serve.

Messages that are only forwarded are not validated: unknown fields and kinds pass unchanged.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .paths import LONGEST
from .rpc import invalid_params

META = "jupyter-acp"
SANDBOX = "sandboxagent.dev"
PROTOCOL_VERSION = 1

INITIALIZE = "initialize"
AUTHENTICATE = "authenticate"
LOGOUT = "logout"
SESSION_NEW = "session/new"
SESSION_LOAD = "session/load"
SESSION_RESUME = "session/resume"
SESSION_FORK = "session/fork"
SESSION_LIST = "session/list"
SESSION_CLOSE = "session/close"
SESSION_DELETE = "session/delete"
SESSION_PROMPT = "session/prompt"
SESSION_CANCEL = "session/cancel"
SESSION_UPDATE = "session/update"
SET_MODE = "session/set_mode"
SET_MODEL = "session/set_model"
SET_CONFIG_OPTION = "session/set_config_option"
REQUEST_PERMISSION = "session/request_permission"
ELICIT = "elicitation/create"
ELICITED = "elicitation/complete"
READ_FILE = "fs/read_text_file"
WRITE_FILE = "fs/write_text_file"
TERMINAL_CREATE = "terminal/create"
TERMINAL_OUTPUT = "terminal/output"
TERMINAL_WAIT = "terminal/wait_for_exit"
TERMINAL_KILL = "terminal/kill"
TERMINAL_RELEASE = "terminal/release"

OPEN_DOCUMENTS = "workspace/open_documents"
RECENT_DOCUMENTS = "workspace/recent_documents"
MCP_CONNECT = "mcp/connect"
MCP_MESSAGE = "mcp/message"
MCP_DISCONNECT = "mcp/disconnect"
MCP_CANCELLED = "notifications/cancelled"
MCP_METHODS = (MCP_CONNECT, MCP_MESSAGE, MCP_DISCONNECT)
"""MCP inside ACP, a proposal, by which agents on other machines reach our tools."""

ACTIVE_DOCUMENT = "workspace/active_document"

EXT_LIST = "_sandboxagent/session/list"
EXT_FORK = "_sandboxagent/session/fork"
EXT_TERMINATE = "_sandboxagent/session/terminate"
EXT_EVENTS = "_sandboxagent/session/events"
EXT_QUESTION = "_sandboxagent/session/request_question"
EXT_SET_METADATA = "_sandboxagent/session/set_metadata"
EXT_METADATA_UPDATE = "_sandboxagent/session/metadata_update"

ATTACH = "_jupyter/session/attach"
DETACH = "_jupyter/session/detach"
QUEUE = "_jupyter/session/queue"
STATE = "_jupyter/session/state"
RESTORED = "_jupyter/session/restored"
NOTICE = "_jupyter/session/notice"
RELOAD = "_jupyter/session/reload"
RELOADED = "_jupyter/session/reloaded"
MODEL = "_jupyter/session/model"
SERVERS = "_jupyter/session/servers"
CHANGED = "_jupyter/sessions/changed"
REMOVED = "_jupyter/sessions/removed"
RESOLVED = "_jupyter/permission_resolved"
DECIDED = "_jupyter/permission_decided"
CONTEXT = "_jupyter/prompt/context"
TOOL = "_jupyter/tool"
SETTINGS = "_jupyter/settings/update"
WORKSPACE = "_jupyter/workspace/update"
TERMINAL_BEGAN = "_jupyter/terminal/created"
TERMINAL_PRINTED = "_jupyter/terminal/output"
TERMINAL_ENDED = "_jupyter/terminal/exit"
DOCUMENT_READ = "_jupyter/document/read"
DOCUMENT_WRITE = "_jupyter/document/write"
DOCUMENT_SAVE = "_jupyter/document/save"
DOCUMENT_SHOW = "_jupyter/document/show"
NOTEBOOK_RUN = "_jupyter/notebook/run"
NOTEBOOK_RESTART = "_jupyter/notebook/restart"
FILE_CHANGED = "_jupyter/file/changed"
PROGRESS = "_jupyter/remote/progress"
RESULT = "_jupyter/remote/result"
REMOTE_INSPECT = "_jupyter/remote/inspect"
REMOTE_PUSH = "_jupyter/remote/push"
REMOTE_FETCH = "_jupyter/remote/fetch"
REMOTE_STOP = "_jupyter/remote/stop"
REMOTE_REVIEW = "_jupyter/remote/review"
REMOTE_FILE = "_jupyter/remote/file"
REMOTE_ACT = "_jupyter/remote/act"
CHANGE_DECIDE = "_jupyter/change/decide"
CHANGE_DECIDED = "_jupyter/change/decided"


def _absolute(path: str) -> str:
    if "\0" in path or not os.path.isabs(path):
        raise ValueError("must be an absolute path")
    if len(path) > LONGEST:
        raise ValueError(f"must not have more than {LONGEST:,} characters")
    return path


AbsolutePath = Annotated[str, AfterValidator(_absolute)]


class Params(BaseModel):
    """Parameters of a request, including unknown fields."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    meta: dict[str, Any] | None = Field(default=None, alias="_meta")

    def ours(self) -> dict[str, Any]:
        """Return our own entry in `_meta`."""
        ours = (self.meta or {}).get(META)
        return ours if isinstance(ours, dict) else {}


class InitializeParams(Params):
    """`initialize`."""

    protocol_version: int = Field(alias="protocolVersion")
    client_capabilities: dict[str, Any] = Field(default_factory=dict, alias="clientCapabilities")
    client_info: dict[str, Any] | None = Field(default=None, alias="clientInfo")


class NewSessionParams(Params):
    """`session/new`, and the common fields of `session/load` and `session/resume`."""

    cwd: AbsolutePath
    mcp_servers: list[Any] = Field(default_factory=list, alias="mcpServers")
    additional_directories: list[AbsolutePath] = Field(
        default_factory=list, alias="additionalDirectories"
    )
    remote: Any = None
    """The repository of a remote session, a proposal for ACP."""

    def wanted_remote(self) -> Any:
        """Return `remote` from the parameters, or from `_meta` for clients that cannot add a field."""
        return self.remote if self.remote is not None else self.ours().get("remote")


class SessionParams(Params):
    """Parameters of a request about one session."""

    session_id: str = Field(alias="sessionId")


class ForkParams(NewSessionParams):
    """`session/fork`: missing fields are taken from the forked session."""

    session_id: str = Field(alias="sessionId")


class PromptParams(SessionParams):
    """`session/prompt`."""

    prompt: list[dict[str, Any]] = Field(min_length=1)


class AttachParams(SessionParams):
    """`_jupyter/session/attach`."""

    after: int = Field(default=0, ge=0)
    run: str | None = None


class EventsParams(SessionParams):
    """`_sandboxagent/session/events`."""

    after: int = Field(default=0, ge=0, lt=2**53)
    limit: int = Field(default=200, ge=1, le=1000)


class ListParams(Params):
    """`session/list`."""

    cwd: AbsolutePath | None = None
    cursor: str | None = None


class ReadFileParams(SessionParams):
    """`fs/read_text_file`."""

    path: AbsolutePath
    line: int | None = Field(default=None, ge=0)
    limit: int | None = Field(default=None, ge=0)


class WriteFileParams(SessionParams):
    """`fs/write_text_file`."""

    path: AbsolutePath
    content: str


class DecideChangeParams(SessionParams):
    """`_jupyter/change/decide`: the user's decision about a change of an agent."""

    change: str = Field(min_length=1)
    """The id of the change in the transcript."""

    parts: list[str]
    decision: Literal["keep", "undo", "redo"]
    path: AbsolutePath
    before: str | None = None
    """The expected current content; None if the file does not exist."""

    after: str | None = None
    """The new content."""


RemoteAction = Literal["checkout", "merge", "pick", "discard", "undo"]


class InspectParams(Params):
    """`_jupyter/remote/inspect`."""

    cwd: AbsolutePath


class PushParams(InspectParams):
    """`_jupyter/remote/push`."""

    uncommitted: bool = False
    token: str | None = Field(default=None, alias="progressToken")


class ResultParams(SessionParams):
    """`_jupyter/remote/fetch`, `stop` and `review`: a session and the number of a result."""

    number: int


class ResultFileParams(ResultParams):
    """`_jupyter/remote/file`."""

    path: str
    old_path: str | None = Field(default=None, alias="oldPath")


class ActParams(ResultParams):
    """`_jupyter/remote/act`: the user's action on a result."""

    action: RemoteAction
    branch: str | None = None


class RecentParams(SessionParams):
    """`workspace/recent_documents`."""

    limit: int | None = Field(default=None, ge=0, strict=True)


class DocumentState(BaseModel):
    """A document of a window: the fields of ACP, and additional ones of the window."""

    model_config = ConfigDict(extra="allow")

    path: str = Field(min_length=1)
    language_id: str | None = Field(default=None, alias="languageId", min_length=1)
    file_hash: str | None = Field(default=None, alias="fileHash")
    """Hash of the file as the window loaded or saved it."""

    def public(self) -> dict[str, Any]:
        """Return the document as received, without fields that agents must not see."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={"file_hash"})


class WorkspaceUpdate(BaseModel):
    """`_jupyter/workspace/update`: the state of a page, complete or only its changes."""

    window: str = Field(min_length=1)
    full: bool = False
    documents: list[DocumentState] = Field(default_factory=list)
    closed: list[str] = Field(default_factory=list)
    active: str | None = None
    focused: bool = False
    recents: list[DocumentState] | None = None
    shares: dict[str, bool] | None = None
    gone: bool = False


class SettingsUpdate(BaseModel):
    """`_jupyter/settings/update`: the user's settings; missing fields stay unchanged."""

    rules: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    defaults: dict[Literal["read", "write", "run", "restart"], Literal["allow", "ask"]] = Field(
        default_factory=dict
    )
    """The user's default decision for actions that no rule matches."""

    servers: list[dict[str, Any]] = Field(default_factory=list)
    context_length: int = Field(default=6000, ge=0, alias="contextLength")
    """Maximum length of the context of a prompt, in characters; 0 turns it off."""


class DocumentContent(BaseModel):
    """The answer of a window to `_jupyter/document/read`."""

    format: Literal["text", "notebook"]
    content: str | dict[str, Any]
    version: str
    dirty: bool
    collaborative: bool = False
    file_hash: str | None = Field(default=None, alias="fileHash")


class DocumentWritten(BaseModel):
    """The answer of a window to `_jupyter/document/write`."""

    version: str
    conflict: bool = False


class DocumentShown(BaseModel):
    """The answer of a window to `_jupyter/document/show`."""

    visible: bool
    """False if showing it would hide the editor in which the user is typing."""


class NotebookRun(BaseModel):
    """The answer of a window to `_jupyter/notebook/run`."""

    status: Literal["ok", "error", "aborted"]
    execution_count: int | None = Field(default=None, alias="executionCount")
    outputs: list[dict[str, Any]] = Field(default_factory=list)


class EnvVariable(BaseModel):
    """An environment variable of a terminal."""

    name: str = Field(pattern=r"^[^=\x00]+$")
    value: str = Field(pattern=r"^[^\x00]*$")


class CreateTerminalParams(SessionParams):
    """`terminal/create`."""

    command: str = Field(pattern=r"^[^\x00]+$")
    args: list[Annotated[str, Field(pattern=r"^[^\x00]*$")]] = Field(default_factory=list)
    env: list[EnvVariable] = Field(default_factory=list)
    cwd: AbsolutePath | None = None
    output_byte_limit: int | None = Field(default=None, ge=0, alias="outputByteLimit")


class TerminalParams(SessionParams):
    """The other `terminal/*` methods."""

    terminal_id: str = Field(alias="terminalId")


P = TypeVar("P", bound=BaseModel)


def parse(model: type[P], params: Any) -> P:
    """Validate parameters; raise an error that names each invalid field and its problem."""
    try:
        return model.model_validate(params if params is not None else {})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'params'}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise invalid_params(f"Invalid parameters: {problems}.") from None
