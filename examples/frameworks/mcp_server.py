"""examples/frameworks/mcp-team.yaml starts it: a plain MCP server (official SDK) whose tool is a member of a team."""

from mcp.server import MCPServer

server = MCPServer("units")


@server.tool()
def fathoms_to_metres(fathoms: float) -> float:
    """Converts a depth in fathoms to metres."""
    return round(fathoms * 1.8288, 4)


server.run("stdio")
