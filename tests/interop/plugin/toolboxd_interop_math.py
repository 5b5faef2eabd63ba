# SPDX-License-Identifier: Apache-2.0
"""`add` and `divide` as a Python ToolBox, as much like toolboxes/math_tools as that can be."""
from ovos_plugin_manager.templates.agent_tools import (AgentTool, ToolArguments, ToolBox,
                                                        ToolOutput)


class Operands(ToolArguments):
    a: int
    b: int


class Number(ToolOutput):
    result: int


class Reals(ToolArguments):
    a: float
    b: float


class Real(ToolOutput):
    result: float


class MathToolBox(ToolBox):
    def __init__(self, config=None, bus=None):
        super().__init__("math_tools", config, bus)

    def discover_tools(self):
        return [
            AgentTool("add", "Add two integers.", Operands, Number,
                      lambda args: {"result": args.a + args.b}),
            AgentTool("divide", "Divide one number by another.", Reals, Real,
                      lambda args: {"result": args.a / args.b}),
        ]
