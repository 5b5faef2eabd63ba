# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: the service refuses or a tool fails, or nobody answers."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class ToolboxdError(Exception):
    """An answer with an error. `str()` is its text, for a person or a model.

    `code` is one of contract.md, Errors; `data` has the whole answer.
    """

    def __init__(self, data: Mapping[str, Any]):
        super().__init__(str(data.get("error", "The service gave no reason")))
        self.data = data
        self.code: str = str(data.get("code", ""))

    @property
    def violations(self) -> list[Any]:
        """What is wrong with the arguments (`invalid_arguments`) or the result, else nothing."""
        return list(self.data.get("violations") or [])

    @property
    def retry_after_s(self) -> Optional[float]:
        """When the same call may be answered (`busy`, `cooldown`), in seconds."""
        return self.data.get("retry_after_s")


class Unreachable(ConnectionError):
    """Nobody answers: there is no service, it went away, or its address or token is wrong."""
