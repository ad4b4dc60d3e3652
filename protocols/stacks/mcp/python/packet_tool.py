"""The one tool of the stacks of MCP, with the Python SDK."""

import asyncio
import json

from mcp import types
from mcp.server.lowlevel import Server


def create_server(inbox, settings):
    """Creates a server whose tool hands packets to `inbox`."""
    tool = types.Tool.model_validate(settings['tool'])

    async def list_tools(_context, _params):
        return types.ListToolsResult(tools=[tool])

    async def call_tool(_context, params):
        try:
            replies = await inbox(params.arguments)
        except Exception as error:
            return types.CallToolResult(content=[types.TextContent(type='text', text=str(error))], is_error=True)
        return types.CallToolResult(content=[], structured_content={'replies': replies})

    return Server('mesh', version='1', on_list_tools=list_tools, on_call_tool=call_tool)


async def create_exchange(client, settings):
    """Reads the list of tools, and returns a function that calls the one."""
    name = settings['tool']['name']
    listed = [tool.name for tool in (await client.list_tools()).tools]
    if name not in listed:
        raise RuntimeError(f'MCP: expected a tool {name}, received {listed}')

    async def exchange(packet):
        async with asyncio.timeout(settings['deadlineMs'] / 1000):
            result = await client.call_tool(name, packet)
        if result.is_error:
            raise RuntimeError(f'MCP: the call failed: {result.content[0].text}')
        return (result.structured_content or json.loads(result.content[0].text))['replies']

    return exchange
