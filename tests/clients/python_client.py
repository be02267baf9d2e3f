"""Drives every tool of `engram mcp` through the official Python client.

    python_client.py ERA COMMAND [ARGUMENT..]

ERA is `legacy`, `auto`, or a protocol version of the stateless era such as `2026-07-28`. COMMAND
starts the server on a repository (named by `--repo`, else the current folder) with at least one
commit that holds a text file. The client checks each result against the tool's output schema by itself. Exit 0 when all went well.
"""

import asyncio
import json
import subprocess
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOLS = {
    "engram_status", "engram_query", "engram_commit", "engram_deref", "engram_promote",
    "engram_conflicts", "engram_resolve",
}


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: got {got!r}, wanted {wanted!r}")


async def call(client, tool, **arguments):
    """A call that must succeed; what the model sees of it."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit(f"{tool} refused {arguments}: {result.content[0].text}")
    expect(f"{tool}: text and structure", json.loads(result.content[0].text), result.structured_content)
    return result.structured_content


async def refused(client, tool, code, **arguments):
    """A call that must be refused in a way that the model can mend."""
    result = await client.call_tool(tool, arguments)
    expect(f"{tool} {arguments}: is_error", result.is_error, True)
    error = json.loads(result.content[0].text)["error"]
    expect(f"{tool} {arguments}: code", error["code"], code)
    expect(f"{tool} {arguments}: hint", bool(error["hint"]), True)


async def drive(client, era, repo):
    version = client.protocol_version
    if era != "auto":
        expect("protocol version", version, "2025-11-25" if era == "legacy" else era)
    listed = await client.list_tools()
    expect("tools", {tool.name for tool in listed.tools}, TOOLS)

    before = await call(client, "engram_status")
    pointer = f"repo:{a_text_file(repo)}#L1@HEAD"
    claim = f"The first line matters ({version})."
    stored = await call(
        client, "engram_commit", content=claim, scope="clients/python", confidence=0.9, pointers=[pointer]
    )
    expect("verified", stored["verified"], True)
    again = await call(
        client, "engram_commit", content=claim, scope="clients/python", confidence=0.9, pointers=[pointer]
    )
    expect("duplicate", (again["duplicate"], again["id"]), (True, stored["id"]))

    short = await call(
        client, "engram_commit", content="It is slow today.", scope="clients/python", confidence=0.7, durability="ephemeral"
    )
    kept = await call(client, "engram_promote", fact_id=short["id"])
    expect("promoted", (kept["id"], kept["durability"]), (short["id"], "durable"))

    for seconds in (5, 9):
        waits = f"The client's connect timeout is {seconds} seconds."
        told = await call(
            client, "engram_commit", content=waits, scope="clients/python", confidence=0.8, pointers=[pointer]
        )
    clash = next(it["conflict"] for it in told["findings"] if it["what"] == "conflict")
    listed = await call(client, "engram_conflicts", scope="clients/python")
    expect("conflicts", [it["id"] for it in listed["conflicts"]], [clash])
    settled = await call(
        client, "engram_resolve", conflict_id=clash, resolution_type="dismissed", resolution="Two clients."
    )
    expect("resolved", settled["resolved"], True)

    found = await call(client, "engram_query", topic=claim, scope="clients")
    expect("found", found["engrams"][0]["id"], stored["id"])
    read = await call(client, "engram_deref", pointer=found["engrams"][0]["pointers"][0])
    expect("digest", read["content_digest"].startswith("sha256:"), True)

    await refused(client, "engram_query", "SCHEMA_INVALID", topic=5)
    await refused(client, "engram_query", "SCHEMA_INVALID", topic="a", sort="date")
    await refused(client, "engram_deref", "POINTER_UNPINNED", pointer="repo:README.md")
    await refused(client, "engram_commit", "CLAIM_TOO_LONG", content="x" * 501, scope="a", confidence=1)
    try:
        await client.call_tool("engram_explode", {})
        raise SystemExit("an unknown tool was called")
    except MCPError:
        pass

    resources = await client.list_resources()
    uri = f"engram://engram/{stored['id']}"
    expect("listed", uri in [str(it.uri) for it in resources.resources], True)
    contents = (await client.read_resource(uri)).contents
    expect("resource", json.loads(contents[0].text)["engram"]["claim"], claim)
    after = await call(client, "engram_status")
    spent = before["budget"]["repo_spans"] - after["budget"]["repo_spans"]
    expect("repo spans that a tool and a resource spent", spent, 2)
    print(f"python client, {version}: ok")


def a_text_file(repo):
    """A committed file that is not empty and no binary, by git's own judgement."""
    grep = ["git", "-C", repo, "grep", "-I", "-l", "-m1", ".", "HEAD"]
    listed = subprocess.run(grep, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        path = name.split(":", 1)[1]
        if not path.startswith('"') and not set(path) & set("@#% "):
            return path
    raise SystemExit("the repository holds no text file")


async def main(era, command):
    repo = command[command.index("--repo") + 1] if "--repo" in command else "."
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with Client(server, mode=era) as client:
        await drive(client, era, repo)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
