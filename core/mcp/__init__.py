"""Memory Desk for an assistant of the operator's own: the companion's tools over the Model Context Protocol."""

from core.mcp.http import PATH, McpEndpoint

__all__ = ["PATH", "McpEndpoint"]
