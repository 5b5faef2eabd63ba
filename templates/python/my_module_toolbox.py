# SPDX-License-Identifier: Apache-2.0
"""The tools of my_toolbox: an OVOS ToolBox plugin.

toolboxd runs it, and whatever else hosts such plugins: nothing here knows of toolboxd. Arguments
are checked against the models before a tool is called, and results after it. What a tool raises is
told to the caller.
"""
from ovos_plugin_manager.templates.agent_tools import (AgentTool, ToolArguments, ToolBox,
                                                       ToolOutput)
from pydantic import Field


class GreetArguments(ToolArguments):
    name: str = Field(min_length=1, description="Who is greeted")


class GreetResult(ToolOutput):
    text: str


class CountArguments(ToolArguments):
    text: str = Field(description="Whose words are counted")


class CountResult(ToolOutput):
    words: int


class Tools(ToolBox):
    def __init__(self, config=None, bus=None):
        super().__init__(toolbox_id="my_toolbox", config=config, bus=bus)

    def discover_tools(self):
        return [
            AgentTool(name="greet", description="Greet somebody by name.",
                      argument_schema=GreetArguments, output_schema=GreetResult,
                      tool_call=self.greet),
            AgentTool(name="count_words", description="Count the words of a text.",
                      argument_schema=CountArguments, output_schema=CountResult,
                      tool_call=self.count_words),
        ]

    def greet(self, arguments):
        greeting = self.config.get("greeting", "Hello")
        return GreetResult(text=f"{greeting}, {arguments.name}!")

    def count_words(self, arguments):
        return CountResult(words=len(arguments.text.split()))
