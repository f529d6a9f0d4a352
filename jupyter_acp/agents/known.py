# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Well-known ACP agents, which are offered without configuration if they are installed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownAgent:
    """An agent by its id in the public registry, with the commands that can start it."""

    id: str
    name: str
    description: str
    commands: tuple[tuple[str, ...], ...]
    install: str


KNOWN_AGENTS = (
    KnownAgent(
        "claude-acp",
        "Claude Agent",
        "Anthropic's Claude, through its ACP adapter",
        (("claude-agent-acp",), ("claude-code-acp",)),
        "npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    KnownAgent(
        "codex-acp",
        "Codex",
        "OpenAI's Codex, through its ACP adapter",
        (("codex-acp",),),
        "npm install -g @agentclientprotocol/codex-acp",
    ),
    KnownAgent(
        "gemini",
        "Gemini CLI",
        "Google's command-line agent",
        (("gemini", "--acp"),),
        "npm install -g @google/gemini-cli",
    ),
    KnownAgent(
        "github-copilot-cli",
        "GitHub Copilot",
        "GitHub's command-line agent",
        (("copilot", "--acp"),),
        "npm install -g @github/copilot",
    ),
    KnownAgent(
        "opencode",
        "OpenCode",
        "Open-source agent for many model providers",
        (("opencode", "acp"),),
        "npm install -g opencode-ai",
    ),
    KnownAgent(
        "goose",
        "goose",
        "Open-source agent for many model providers, extensible with MCP",
        (("goose", "acp"),),
        "curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | bash",
    ),
    KnownAgent(
        "qwen-code",
        "Qwen Code",
        "Alibaba's command-line agent",
        (("qwen", "--acp"),),
        "npm install -g @qwen-code/qwen-code",
    ),
    KnownAgent(
        "kimi",
        "Kimi Code",
        "Moonshot AI's command-line agent",
        (("kimi", "acp"),),
        "npm install -g @moonshot-ai/kimi-code",
    ),
    KnownAgent(
        "mistral-vibe",
        "Mistral Vibe",
        "Mistral's command-line agent",
        (("vibe-acp",),),
        "uv tool install mistral-vibe",
    ),
    KnownAgent(
        "auggie",
        "Auggie",
        "Augment Code's command-line agent",
        (("auggie", "--acp"),),
        "npm install -g @augmentcode/auggie",
    ),
    KnownAgent(
        "cline",
        "Cline",
        "Open-source agent for many model providers",
        (("cline", "--acp"),),
        "npm install -g cline",
    ),
    KnownAgent(
        "cursor",
        "Cursor",
        "Cursor's command-line agent",
        (("cursor-agent", "acp"),),
        "curl https://cursor.com/install -fsS | bash",
    ),
    KnownAgent(
        "factory-droid",
        "Factory Droid",
        "Factory's command-line agent",
        (("droid", "exec", "--output-format", "acp"),),
        "npm install -g droid",
    ),
    KnownAgent(
        "fast-agent",
        "fast-agent",
        "Python framework for agents, with an agent of its own",
        (("fast-agent-acp",),),
        "uv tool install fast-agent-mcp",
    ),
    KnownAgent(
        "grok-build",
        "Grok Build",
        "xAI's command-line agent",
        (("grok", "agent", "stdio"),),
        "npm install -g @xai-official/grok",
    ),
    KnownAgent(
        "hermes-agent",
        "Hermes Agent",
        "Nous Research's agent with memory and skills",
        (("hermes-acp",), ("hermes", "acp")),
        'uv tool install "hermes-agent[acp]"',
    ),
    KnownAgent(
        "junie",
        "Junie",
        "JetBrains' command-line agent",
        (("junie", "--acp=true"),),
        "npm install -g @jetbrains/junie",
    ),
    KnownAgent(
        "kilo",
        "Kilo",
        "Open-source agent for many model providers",
        (("kilo", "acp"),),
        "npm install -g @kilocode/cli",
    ),
    KnownAgent(
        "kiro",
        "Kiro",
        "AWS's command-line agent",
        (("kiro-cli", "acp"),),
        "curl -fsSL https://cli.kiro.dev/install | bash",
    ),
    KnownAgent(
        "openhands",
        "OpenHands",
        "Open-source software engineering agent",
        (("openhands", "acp"),),
        "uv tool install openhands --python 3.12",
    ),
    KnownAgent(
        "pi-acp",
        "Pi",
        "The pi coding agent, through its ACP adapter",
        (("pi-acp",),),
        "npm install -g pi-acp @earendil-works/pi-coding-agent",
    ),
    KnownAgent(
        "qoder",
        "Qoder",
        "Qoder's command-line agent",
        (("qodercli", "--acp"),),
        "npm install -g @qoder-ai/qodercli",
    ),
    KnownAgent(
        "stakpak",
        "Stakpak",
        "Open-source agent for operations and infrastructure",
        (("stakpak", "acp"),),
        "curl -sSL https://stakpak.dev/install.sh | sh",
    ),
)
