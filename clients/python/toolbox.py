# SPDX-License-Identifier: Apache-2.0
"""`from toolbox import tool`, as in a file of kind python (docs/python.md), where toolboxd itself has this
module: with it the file can be imported and tested anywhere."""
from toolboxd.tools import TOOLS, Tool, tool

__all__ = ["TOOLS", "Tool", "tool"]
