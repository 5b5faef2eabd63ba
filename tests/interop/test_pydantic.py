# SPDX-License-Identifier: Apache-2.0
"""What pydantic makes of types, through toolboxd and through the Python plugin: the same schemas, the
same verdicts, the same results. Python checks again what toolboxd has let through, so that a rule no
JSON Schema can say is told like the others. The few arguments that only one of them takes are listed."""
import json

import pytest
from python_site import Site
from side_by_side import SideBySide, without_ours

TYPES = """
import datetime, decimal, enum, uuid
from typing import *
from pydantic import BaseModel, ConfigDict, field_validator, model_validator


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class One(enum.Enum):
    ONLY = 1


class Point(BaseModel):
    x: int
    y: float = 0.5


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Node(BaseModel):
    value: int
    children: List["Node"] = []


class All(ToolArguments):
    integer: int = Field(3, ge=0, lt=100, multiple_of=3)
    number: float = Field(1.5, gt=0, le=10)
    money: decimal.Decimal = decimal.Decimal("1.10")
    text: str = Field("abc", min_length=2, max_length=5, pattern=r"^[a-z]+$")
    optional: Optional[Annotated[int, Field(ge=1)]] = None
    union: Union[int, str] = 0
    flag: bool = False
    colour: Colour = Colour.RED
    one: One = One.ONLY
    literal: Literal["a", "b", 3] = "a"
    point: Point = Point(x=1)
    pet: Union[Cat, Dog] = Field(Cat(kind="cat"), discriminator="kind")
    node: Optional[Node] = None
    pair: Tuple[int, str] = (1, "a")
    several: Set[int] = set()
    table: Dict[str, int] = {}
    anything: Any = None
    when: datetime.datetime = datetime.datetime(2020, 1, 1)
    day: datetime.date = datetime.date(2020, 1, 1)
    span: datetime.timedelta = datetime.timedelta(seconds=5)
    identity: uuid.UUID = uuid.UUID(int=0)
    raw: bytes = b"raw"
    renamed: int = Field(0, alias="re-named", examples=[1, 2], title="Another")
    described: str = Field("", description="ü \\u2028", json_schema_extra={"x-own": {"deep": [1]}})


class Strict(ToolArguments):
    model_config = ConfigDict(extra="forbid")
    even: int = 2
    word: str = "w"

    @field_validator("even")
    def is_even(cls, value):
        if value % 2:
            raise ValueError("must be even")
        return value

    @model_validator(mode="after")
    def fits(self):
        if self.word == "bad":
            raise ValueError("the whole is bad")
        return self


class Tree(ToolArguments):
    value: int
    children: List["Tree"] = []


class Seen(ToolOutput):
    seen: Dict[str, Any]


VALUES = {"big": 2**70, "negative": -0.0, "small": 5e-324, "large": 1e22, "whole": 1e16, "yes": True,
          "text": "\\x00\\x1f\\u2028\\U0001f600", "null": None, "": [[]]}


class Types(ToolBox):
    def __init__(self, config=None, bus=None):
        super().__init__("types", config, bus)

    def discover_tools(self):
        def show(args):
            return {"seen": args.model_dump(mode="json")}

        def fail(args):
            raise KeyError("a\\nb")

        return [tool("all", show, All, Seen), tool("strict", show, Strict, Seen),
                tool("tree", show, Tree, Seen), tool("nothing", show, Nothing, Seen),
                tool("values", lambda args: {"seen": VALUES}, Nothing, Seen),
                tool("surplus", lambda args: {"seen": {}, "more": 1}, Nothing, Seen),
                tool("missing", lambda args: {}, Nothing, Seen),
                tool("wrong", lambda args: {"seen": 5}, Nothing, Seen),
                tool("fail", fail, Nothing, Seen),
                tool("none", lambda args: None, Nothing, Seen),
                tool("model", lambda args: Reply(reply="x"), Nothing, Seen)]
"""

AGREE = [
    ("all", [
        {}, {"integer": 4}, {"integer": 99}, {"integer": 102}, {"integer": "6"}, {"integer": 3.0},
        {"number": 0}, {"number": "2"}, {"number": 10}, {"number": 11}, {"money": "2.50"},
        {"money": 3.25}, {"money": "x"}, {"text": "a"}, {"text": "ABC"}, {"text": "zz"},
        {"optional": None}, {"optional": "5"}, {"optional": 0}, {"union": "5"}, {"union": 5},
        {"union": 5.5}, {"union": None}, {"flag": True}, {"flag": "true"}, {"flag": "maybe"},
        {"colour": "blue"}, {"colour": "green"}, {"one": 1}, {"one": 2}, {"literal": 3},
        {"literal": "3"}, {"point": {"x": "1"}}, {"point": {"x": 1, "z": 2}}, {"point": {}},
        {"pet": {"kind": "dog", "name": "Rex"}}, {"pet": {"kind": "cow"}}, {"pet": {"kind": "dog"}},
        {"node": {"value": 1, "children": [{"value": "2"}]}},
        {"node": {"value": 1, "children": [{}]}}, {"pair": [1, "a"]}, {"pair": [1]},
        {"pair": [1, "a", 2]}, {"pair": ["1", "a"]}, {"several": [3, "4"]}, {"table": {"a": "1"}},
        {"table": {"a": None}}, {"anything": {"x": [1.0, 1e5, 10 ** 30]}},
        {"when": "2021-05-05T05:05:05Z"}, {"when": "yesterday"}, {"day": "2021-05-05"},
        {"day": "2021-02-30"}, {"span": "PT1H"}, {"span": "x"}, {"raw": "ü"},
        {"identity": "00000000-0000-0000-0000-000000000001"}, {"identity": "x"},
        {"re-named": 5}, {"renamed": 5}, {"described": "x"}]),
    ("strict", [{}, {"even": 3}, {"even": "4"}, {"extra": 1}, {"word": "bad"},
                {"even": 3, "word": 5}]),
    ("tree", [{"value": 1, "children": [{"value": 2, "children": [{"value": "3"}]}]},
              {"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]}, {}]),
    *[(name, [{}]) for name in ("nothing", "values", "surplus", "missing", "wrong", "fail")],
]

# What pydantic takes and a JSON Schema does not: words and numbers for booleans, numbers for times,
# elements twice in a set.
PYDANTIC_TAKES = [{"flag": "yes"}, {"flag": 1}, {"flag": "0"}, {"flag": 0.0}, {"when": 0},
                  {"span": 3.5}, {"several": [1, 1]}]
# What we take: the text of an object or a number where none is wanted as text.
WE_TAKE = [{"point": '{"x": 1}'}, {"one": "1"}]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    home = tmp_path_factory.mktemp("pydantic")
    site = Site(home / "venv")
    site.install("types_box", TYPES, {"types": "Types"})
    (home / "toolbox.d").mkdir()
    (home / "toolbox.d" / "types.json").write_text(
        json.dumps({"kind": "python", "python": str(site.python)}))
    with SideBySide(home, [home / "toolbox.d"], python=site.python) as both:
        yield both


def invoke(both, name, args):
    return [message.data for message in
            both.ask("ovos.tools.invoke", {"name": name, "args": args})]


def test_schemas_agree(both):
    ours, python = (message.data["tools"] for message in both.ask("ovos.tools.list", {}))
    assert json.dumps([without_ours(tool) for tool in ours]) == json.dumps(python)


@pytest.mark.parametrize("name, args", [(name, args) for name, several in AGREE for args in several])
def test_verdicts_and_results_agree(both, name, args):
    ours, python = invoke(both, name, args)
    assert list(without_ours(ours)) == list(python)
    if "result" in python:
        assert json.dumps(ours["result"]) == json.dumps(python["result"])
    else:
        assert ours["error"].startswith(python["error"] + ": ")


@pytest.mark.parametrize("name", ["none", "model"])
def test_a_tool_that_gives_no_output_of_its_own(both, name):
    """tool_failed has its first words (contract.md, Errors), and then those of the plugin."""
    ours, python = invoke(both, name, {})
    assert ours["error"].startswith("RuntimeError: ") and ours["code"] == "tool_failed"
    assert ours["error"].endswith(python["error"])


@pytest.mark.parametrize("args", PYDANTIC_TAKES + WE_TAKE)
def test_what_only_one_of_them_takes(both, args):
    ours, python = invoke(both, "all", args)
    taken, refused = (python, ours) if args in PYDANTIC_TAKES else (ours, python)
    assert "result" in taken and "input validation failed" in refused["error"]


def test_rules_that_no_schema_can_say_are_told_with_their_place(both):
    ours, _ = invoke(both, "strict", {"even": 3})
    assert ours["violations"] == [{"path": "/even", "message": "Value error, must be even"}]
    ours, _ = invoke(both, "wrong", {})
    assert ours["code"] == "invalid_output" and ours["violations"][0]["path"] == "/seen"
