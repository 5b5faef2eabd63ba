# SPDX-License-Identifier: Apache-2.0
"""Functions that are tools.

    @tool ─ annotations, docstring ─▶ definition: JSON Schemas of the arguments and of the result
    arguments ─ read ─▶ function(**values) ─▶ result ─ write ─▶ JSON

    from toolbox import tool

    @tool(risk="read")
    def add(a: int, b: int = 1) -> int:
        '''Add two numbers.'''
        return a + b

A file with such functions is a toolbox of kind python (docs/python.md); a running program offers them as a
guest (docs/guests.md). This module needs nothing but Python 3.9.
"""
from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import typing
from typing import Any, Callable, Iterator, Mapping, Optional

TYPES: "dict[Any, str]" = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object",
                           list: "array", type(None): "null"}
# `:param name: text`, or a line of an `Args:` section.
SPHINX = re.compile(r"^\s*:param\s+(?:\S+\s+)?(\w+):\s*(.+)$")
SECTION = re.compile(r"^\s*(?:Args|Arguments|Parameters|Returns|Raises|Yields|Examples?):\s*$")
GOOGLE = re.compile(r"^\s+(\w+)(?:\s*\([^)]*\))?:\s*(.+)$")
# The levels of a schema: a type that contains itself has no end.
LEVELS_MAX = 32


class Tool:
    """A function that is a tool."""

    def __init__(self, function: Callable[..., Any], name: Optional[str], description: Optional[str],
                 more: Mapping[str, Any]):
        self.function = function
        self.name = name or function.__name__
        # With a schema of its own the function gets the values as they come.
        self.hints = {} if more.get("argument_schema") else _hints(function)
        text, notes = _docstring(inspect.getdoc(function) or "")
        self.definition: "dict[str, Any]" = {
            "name": self.name, "description": text if description is None else description,
            "argument_schema": more.get("argument_schema") or argument_schema(function, notes)}
        output = more.get("output_schema") or _output_schema(function)
        if output:
            self.definition["output_schema"] = output
        self.definition.update({key: value for key, value in more.items() if value is not None})

    def read(self, arguments: Mapping[str, Any]) -> "dict[str, Any]":
        """Return the arguments of a call as their annotations have them: members of an Enum, dataclasses.
        Raises ValueError for a value that no annotation takes."""
        return {key: read(self.hints.get(key, Any), value, "/" + key) for key, value in arguments.items()}


TOOLS: "list[Tool]" = []


def tool(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None,
         description: Optional[str] = None, title: Optional[str] = None, risk: Optional[str] = None,
         timeout_ms: Optional[int] = None, cooldown_s: Optional[int] = None, parallel: Optional[bool] = None,
         triggers: "Optional[list[str]]" = None, examples: "Optional[list[dict[str, Any]]]" = None,
         argument_schema: Optional["dict[str, Any]"] = None,
         output_schema: Optional["dict[str, Any]"] = None) -> Any:
    """Make a function a tool: `@tool`, `@tool()` or `@tool(risk="read")`. The function itself stays as it
    is. The keywords are those of a tool in a manifest."""
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        TOOLS.append(Tool(function, name, description, {
            "title": title, "risk": risk, "timeout_ms": timeout_ms, "cooldown_s": cooldown_s,
            "parallel": parallel, "triggers": triggers, "examples": examples,
            "argument_schema": argument_schema, "output_schema": output_schema}))
        return function

    return add(function) if function else add


# --- schemas


def _docstring(text: str) -> "tuple[str, dict[str, str]]":
    """Return the description, and what the text says of each parameter."""
    notes: "dict[str, str]" = {}
    lines: "list[str]" = []
    is_inside = False
    for line in text.splitlines():
        found = SPHINX.match(line)
        if SECTION.match(line) or line.lstrip().startswith((":return", ":raise", ":rtype")):
            is_inside = True
        elif found:
            notes[found[1]] = found[2].strip()
        elif is_inside and (found := GOOGLE.match(line)):
            notes[found[1]] = found[2].strip()
        elif line.strip() and not line.startswith(" "):
            is_inside = False
            lines.append(line.strip())
        elif not is_inside:
            lines.append(line.strip())
    return "\n".join(lines).strip(), notes


def _hints(thing: Any) -> "dict[str, Any]":
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except Exception:  # a name that is not there: what is written counts
        return dict(getattr(thing, "__annotations__", {}))


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) is typing.Union or type(annotation).__name__ == "UnionType"


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, enum.Enum)


def _is_record(annotation: Any) -> bool:
    return isinstance(annotation, type) and dataclasses.is_dataclass(annotation)


def _is_typed_dict(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "__required_keys__")


def _object(schemas: "dict[str, Any]", required: "list[str]", is_open: bool) -> "dict[str, Any]":
    return {"type": "object", "properties": schemas, **({"required": required} if required else {}),
            "additionalProperties": is_open}


def _with_default(schema: "dict[str, Any]", default: Any) -> "dict[str, Any]":
    """The schema with a default, if JSON has the value."""
    try:
        value = write(default)
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return schema
    return schema if value is None else {**schema, "default": value}


def _record_schema(record: Any, where: str, level: int) -> "dict[str, Any]":
    hints, schemas, required = _hints(record), {}, []
    for field in dataclasses.fields(record):
        if not field.init:
            continue
        schema = _schema(hints.get(field.name, Any), f"{where}.{field.name}", level)
        if field.default is not dataclasses.MISSING:
            schema = _with_default(schema, field.default)
        elif field.default_factory is dataclasses.MISSING:
            required.append(field.name)
        schemas[field.name] = schema
    return _object(schemas, required, False)


def _union_schema(inner: "tuple[Any, ...]", where: str, level: int) -> "dict[str, Any]":
    schemas = [_schema(one, where, level) for one in inner]
    if all(set(one) == {"type"} for one in schemas):
        return {"type": [one["type"] for one in schemas]}
    return {"anyOf": schemas}


def _schema(annotation: Any, where: str, level: int = 0) -> "dict[str, Any]":
    """Return the JSON Schema of what an annotation takes."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    level += 1
    if level > LEVELS_MAX:
        raise TypeError(f"{where}: the type contains itself, or has more than {LEVELS_MAX} levels")
    if annotation in (inspect.Parameter.empty, Any):
        return {}
    if origin is typing.Annotated:
        texts = [one for one in inner[1:] if isinstance(one, str)]
        schema = _schema(inner[0], where, level)
        return {**schema, "description": texts[0]} if texts else schema
    if _is_typed_dict(annotation):
        hints, required = _hints(annotation), annotation.__required_keys__
        return _object({key: _schema(hint, f"{where}.{key}", level) for key, hint in hints.items()},
                       [key for key in hints if key in required], False)
    if isinstance(annotation, typing.Hashable) and annotation in TYPES:
        return {"type": TYPES[annotation]}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if _is_enum(annotation):
        return {"enum": [member.value for member in annotation]}
    if _is_record(annotation):
        return _record_schema(annotation, where, level)
    if origin is list:
        return {"type": "array", **({"items": _schema(inner[0], where, level)} if inner else {})}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], where, level) if inner else True}
    if getattr(typing, "Required", None) in (origin,) or getattr(typing, "NotRequired", None) in (origin,):
        return _schema(inner[0], where, level)
    if _is_union(annotation):
        return _union_schema(inner, where, level)
    raise TypeError(f"{where}: {annotation!r} has no JSON Schema; use bool, int, float, str, list, dict, "
                    "Optional, Union, Literal, Enum, a dataclass, a TypedDict, Annotated or Any, or give "
                    "tool() an argument_schema")


def argument_schema(function: Callable[..., Any], notes: Mapping[str, str]) -> "dict[str, Any]":
    """Return the schema of the arguments of a function, from its annotations, defaults and docstring."""
    hints = _hints(function)
    properties: "dict[str, Any]" = {}
    required = []
    is_open = False
    for parameter in inspect.signature(function).parameters.values():
        where = f"{function.__name__}({parameter.name})"
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"{where}: a tool is called by keywords; make it an ordinary parameter")
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        schema = _schema(hints.get(parameter.name, Any), where)
        if parameter.name in notes:
            schema = {**schema, "description": notes[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            schema = _with_default(schema, parameter.default)
        properties[parameter.name] = schema
    return _object(properties, required, is_open)


def _output_schema(function: Callable[..., Any]) -> "Optional[dict[str, Any]]":
    """A result that is no object is the member `result` of one."""
    annotation = _hints(function).get("return", Any)
    if annotation in (Any, None, type(None)):
        return None
    schema = _schema(annotation, f"the result of {function.__name__}")
    if schema.get("type") == "object":
        return schema
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


# --- values


def _read_object(hints: "Mapping[str, Any]", value: Any, where: str) -> "dict[str, Any]":
    if not isinstance(value, dict):
        raise ValueError(f"{where}: an object was expected, not {value!r}")
    return {key: read(hints.get(key, Any), one, f"{where}/{key}") for key, one in value.items()}


def _read_record(record: Any, value: Any, where: str) -> Any:
    """Return the object of a dataclass that a value describes. An error of its own code is no mismatch."""
    members = _read_object(_hints(record), value, where)
    fields = [field for field in dataclasses.fields(record) if field.init]
    lacking = [field.name for field in fields if field.name not in members
               and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING]
    unknown = [name for name in members if name not in {field.name for field in fields}]
    if lacking or unknown:
        raise ValueError(f"{where}: a {record.__name__} was expected; " + (
            f"it lacks {', '.join(lacking)}" if lacking else f"it has no {', '.join(unknown)}"))
    return record(**members)


def _read_union(inner: "tuple[Any, ...]", value: Any, where: str) -> Any:
    for one in inner:
        try:
            return read(one, value, where)
        except ValueError:
            continue
    raise ValueError(f"{where}: {value!r} is of none of the types {', '.join(map(str, inner))}")


def _read_plain(annotation: Any, value: Any, where: str) -> Any:
    """Read a value of one of the types of JSON. A whole number may be written 3.0."""
    if annotation is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if annotation is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not annotation:
        raise ValueError(f"{where}: {TYPES[annotation]} was expected, not {value!r}")
    return value


def read(annotation: Any, value: Any, where: str = "") -> Any:
    """Return a value of JSON as the annotation has it. Raises ValueError when it does not take the value."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated or (origin and origin in (getattr(typing, "Required", None),
                                                           getattr(typing, "NotRequired", None))):
        return read(inner[0], value, where)
    if _is_union(annotation):
        return _read_union(inner, value, where)
    if _is_enum(annotation):
        for member in annotation:
            if member.value == value and isinstance(member.value, bool) is isinstance(value, bool):
                return member
        raise ValueError(f"{where}: {value!r} is no {annotation.__name__}")
    if _is_record(annotation):
        return _read_record(annotation, value, where)
    if _is_typed_dict(annotation):
        return _read_object(_hints(annotation), value, where)
    if origin is list and inner and isinstance(value, list):
        return [read(inner[0], one, f"{where}/{index}") for index, one in enumerate(value)]
    if origin is dict and inner and isinstance(value, dict):
        return {key: read(inner[1], one, f"{where}/{key}") for key, one in value.items()}
    if origin is typing.Literal and value not in inner:
        raise ValueError(f"{where}: {value!r} is none of {', '.join(map(repr, inner))}")
    if isinstance(annotation, typing.Hashable) and annotation in TYPES:
        return _read_plain(annotation, value, where)
    return value


def _members(record: Any) -> "Iterator[tuple[str, Any]]":
    for field in dataclasses.fields(record):
        yield field.name, getattr(record, field.name)


def write(value: Any) -> Any:
    """Return a result as values of JSON: dataclasses are objects, members of an Enum their values."""
    if isinstance(value, enum.Enum):
        return write(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: write(one) for key, one in _members(value)}
    if isinstance(value, dict):
        return {key: write(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [write(one) for one in value]
    return value
