"""Puts one Python client through the flows that it has, and prints what became of each as JSON.

python_clients.py LIBRARY MODE TARGET: LIBRARY is mcp or fastmcp, MODE is auto or legacy, TARGET as flows.mjs has it.
"""

import asyncio
import json
import sys

library, mode, target = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
process = target["process"]


def mcp_client():
    from mcp import Client, StdioServerParameters
    from mcp.types import ElicitResult

    async def person(_context, _params):
        return ElicitResult(action="accept", content={"confirm": True})

    return Client(target.get("url") or StdioServerParameters(**process), mode=mode, elicitation_callback=person)


def fastmcp_client():
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def person(_message, _response_type, _params, _context):
        return ElicitResult(action="accept", content={"confirm": True})

    transport = target.get("url") or StdioTransport(**process, keep_alive=False)
    return Client(transport, mode=mode, elicitation_handler=person)


def same(seen, wanted):
    assert seen == wanted, f"saw {seen!r} in place of {wanted!r}"


async def flows(client):
    async def first(name, arguments):
        result = await client.call_tool(name, arguments)
        assert not getattr(result, "is_error", False), result
        return result.content[0].text

    async def list_():
        tools = await client.list_tools()
        same(any(tool.name == "compute" for tool in getattr(tools, "tools", tools)), True)

    async def call():
        same(await first("greet", {"name": "Ada"}), "Hello, Ada!")

    async def hold():
        same(await first("compute", {"seconds": 1, "label": "held"}), "held took 1 s")

    async def question():
        await first("delete_file", {"filename": "a.txt"})

    async def resource():
        read = await client.read_resource("runbridge://tasks")
        contents = getattr(read, "contents", read)
        same(isinstance(json.loads(contents[0].text)["tasks"], list), True)

    return {"list": list_, "call": call, "hold": hold, "question": question, "resource": resource}


async def main():
    seen = {}
    async with {"mcp": mcp_client, "fastmcp": fastmcp_client}[library]() as client:
        for name, flow in (await flows(client)).items():
            try:
                await asyncio.wait_for(flow(), 60)
                seen[name] = None
            except Exception as error:  # noqa: BLE001
                seen[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(seen))


asyncio.run(main())
