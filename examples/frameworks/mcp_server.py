"""python3 examples/frameworks/mcp_server.py: a plain MCP server (official SDK) on its standard input and output."""

from mcp.server import MCPServer

server = MCPServer("units")


@server.tool()
def fathoms_to_metres(fathoms: float) -> float:
    """Converts a depth in fathoms to metres."""
    return round(fathoms * 1.8288, 4)


server.run("stdio")
