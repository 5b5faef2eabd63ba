# SPDX-License-Identifier: Apache-2.0
"""Toolboxes that tests make up: manifests over libc and libm, which are there without any code of
ours. `misbehave` is what a bad library would do, done by libc's own functions."""
import json

from processes import BUILD

SHIPPED = BUILD / "toolbox.d"

# Where a host keeps its end of the socket to the daemon (service/host).
WIRE_FD = 3


def integer(name, kind="i64", **more):
    return {"name": name, "type": kind, **more}


def text(name, **more):
    return {"name": name, "type": "str", **more}


def tool(name, symbol, parameters=(), returns="i64", **more):
    returns = returns if isinstance(returns, dict) else {"type": returns}
    return {"name": name, "description": f"Calls {symbol}().", "risk": "read",
            "native": {"symbol": symbol, "parameters": list(parameters), "returns": returns},
            **more}


def toolbox(folder, stem, tools, library="libc.so.6", **more):
    """Write a manifest of a toolbox; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps({"kind": "native", "library": library, "tools": tools, **more}))
    return path


def labs(name="absolute", **more):
    """The plainest tool there is: |value|."""
    return tool(name, "labs", [integer("value")], **more)


def sleeper(name="sleep", **more):
    """Sleeps for so many seconds; its result 0."""
    return tool(name, "sleep", [integer("seconds", "u32")], "u32", **more)


def misbehave(folder, **limits):
    """A toolbox whose every tool ends, blocks or betrays its host."""
    return toolbox(folder, "misbehave", [
        labs("behave"),
        sleeper("hang", timeout_ms=300),
        tool("segfault", "raise", [integer("signal", "i32", value=11)], "i32"),
        tool("kill", "raise", [integer("signal", "i32", value=9)], "i32"),
        tool("abort", "abort", returns="void"),
        tool("exit", "exit", [integer("status", "i32", default=0)], "void"),
        tool("write", "write", [integer("fd", "i32", value=WIRE_FD), text("text"),
                                integer("size", "usize")], "isize"),
        tool("close", "close", [integer("fd", "i32", value=WIRE_FD)], "i32"),
    ], **({"limits": limits} if limits else {}))


def replace(path, manifest):
    """Write a manifest by rename, as installers do."""
    fresh = path.with_name(f".{path.name}")
    fresh.write_text(json.dumps(manifest))
    fresh.rename(path)


def answers(folder):
    """A toolbox for what a call may be answered with."""
    return toolbox(folder, "answers", [
        labs("absolute"),
        labs("small", output_schema={
            "type": "object", "properties": {"result": {"type": "integer", "maximum": 10}},
            "required": ["result"]}),
        tool("echo", "strdup", [text("text")],
             {"type": "str", "name": "text", "transfer": "full"}),
        tool("risky", "labs", [integer("value")], risk="execute"),
        tool("with_default", "labs", [integer("value", default=-5)]),
        tool("environment", "getenv", [text("name")], {"type": "str", "nullable": True}),
        tool("not_there", "getenv", [text("name", value="NO_SUCH_VARIABLE")], "str"),
        sleeper("wait", timeout_ms=20000),
        sleeper("hang", timeout_ms=300),
    ])


def alike(folder):
    """Two toolboxes whose tools have one `toolbox__name`: alike__a__b. 97 is 97 of the one, and 65 of the other."""
    toolbox(folder, "alike", [labs("a__b")])
    toolbox(folder, "alike__a", [tool("b", "toupper", [integer("value", "i32")], "i32")])


def twins(folder):
    """Two toolboxes with a tool of one name."""
    toolbox(folder, "left", [tool("same", "labs", [integer("value")]), labs("only_left")])
    toolbox(folder, "right", [tool("same", "labs", [integer("value")])])
