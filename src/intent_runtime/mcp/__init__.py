"""The MCP service: three tools over a bridge (contract section 11)."""

from typing import TYPE_CHECKING

from intent_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from intent_runtime.mcp.server import IntentMcpService as IntentMcpService
    from intent_runtime.mcp.server import serve_intent_mcp as serve_intent_mcp
    from intent_runtime.mcp.tools import MCP_TOOLS as MCP_TOOLS

__all__ = ["MCP_TOOLS", "IntentMcpService", "serve_intent_mcp"]

__getattr__ = lazy_names(
    __name__,
    {
        "IntentMcpService": "server",
        "MCP_TOOLS": "tools",
        "serve_intent_mcp": "server",
    },
)
