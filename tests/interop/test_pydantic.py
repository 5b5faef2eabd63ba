# SPDX-License-Identifier: Apache-2.0
"""What pydantic makes of types, through toolboxd and through the Python plugin: the same schemas, the
same verdicts, the same results. Pydantic has the last word about arguments and results; the few arguments
that only toolboxd takes are listed."""
import json

import pytest
from python_site import Site
from side_by_side import SideBySide, without_ours

TYPES = """
import base64, datetime, decimal, enum, ipaddress, math, pathlib, uuid
from typing import *
from pydantic import (AliasChoices, Base64Bytes, BaseModel, ByteSize, ConfigDict, Json, RootModel, SecretStr,
                      computed_field, field_serializer, field_validator, model_validator)


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


class Languages(ToolArguments):
    # Patterns that are none of ECMA-262, or mean something else there.
    flags: str = Field("a", pattern=r"(?i)^[a-z]+$")
    named: str = Field("1", pattern=r"(?P<y>\\d+)")
    anchors: str = Field("a", pattern=r"^\\A[a-z]*\\z")
    word: str = Field("a", pattern=r"^\\w+$")
    digits: str = Field("1", pattern=r"^\\d+$")
    posix: str = Field("a", pattern=r"^[[:alpha:]]+$")
    keys: Dict[Annotated[str, Field(pattern=r"(?i)^a")], int] = {}
    either: Union[Annotated[str, Field(pattern=r"^\\w+$")], int] = 0


class Exact(ToolArguments):
    model_config = ConfigDict(strict=True)
    integer: int = 0
    number: float = 0
    flag: bool = False


class Wide(ToolArguments):
    model_config = ConfigDict(populate_by_name=True)
    tenth: float = Field(0.1, multiple_of=0.1)
    money: decimal.Decimal = Field(decimal.Decimal(1), max_digits=5, decimal_places=2)
    letters: str = Field("ab", min_length=2, max_length=3)
    stripped: Annotated[str, Field(max_length=2)] = "a"
    several: FrozenSet[int] = frozenset()
    listed: List[int] = Field([1], min_length=1, max_length=3)
    pair: Tuple[int, ...] = ()
    moment: datetime.time = datetime.time(1)
    aware: Optional[datetime.datetime] = None
    encoded: Base64Bytes = base64.b64encode(b"a")
    inner: Json[List[int]] = "[1]"
    size: ByteSize = 1
    path: pathlib.Path = pathlib.Path("/tmp")
    address: ipaddress.IPv4Address = ipaddress.IPv4Address("127.0.0.1")
    chosen: int = Field(0, validation_alias=AliasChoices("first", "second"))
    named: int = Field(0, alias="other")
    words: List[str] = []
    broken: Annotated[int, Field(json_schema_extra={"minimum": 100, "default": "x"})] = 5
    level: Literal[1, 2] = 1

    @field_validator("words", mode="before")
    def split(cls, value):
        return value.split(",") if isinstance(value, str) else value


class Needed(ToolArguments):
    given: int = Field(validation_alias=AliasChoices("first", "second"))


class Secret(ToolArguments):
    key: SecretStr
    flag: bool = False


class Unlike(ToolOutput):
    # A result that is unlike the schema of its model.
    model_config = ConfigDict(extra="forbid")
    renamed: int = Field(1, alias="re-named")
    span: int = 5

    @field_serializer("span")
    def write(self, value):
        return f"{value} s"

    @computed_field
    def more(self) -> str:
        return "more"


class Tree(ToolArguments):
    value: int
    children: List["Tree"] = []


class Seen(ToolOutput):
    seen: Dict[str, Any]


VALUES = {"big": 2**70, "negative": -0.0, "small": 5e-324, "large": 1e22, "whole": 1e16, "yes": True,
          "text": "\\x00\\x1f\\u2028\\U0001f600", "null": None, "": [[]],
          "nan": math.nan, "infinity": math.inf}


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
                tool("languages", show, Languages, Seen), tool("exact", show, Exact, Seen),
                tool("wide", show, Wide, Seen), tool("needed", show, Needed, Seen),
                tool("secret", lambda args: {"seen": {}}, Secret, Seen),
                tool("unlike", lambda args: Unlike(), Nothing, Unlike),
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
        {"union": 5.5}, {"flag": True}, {"flag": "true"}, {"flag": "maybe"},
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
        {"re-named": 5}, {"renamed": 5}, {"described": "x"},
        {"flag": "yes"}, {"flag": 1}, {"flag": "0"}, {"flag": 0.0}, {"flag": 2}, {"when": 0},
        {"span": 3.5}, {"several": [1, 1]}, {"integer": True}, {"integer": "+6"}, {"integer": 3.5},
        {"number": ".5"}, {"number": "1_0"}, {"number": True}, {"number": "nan"},
        {"raw": 5}, {"text": 5}, {"text": "a\u0301bc"}, {"day": 0}, {"day": "2021-05-05T00:00:00"}]),
    ("languages", [
        {"flags": "ABC"}, {"flags": "1"}, {"named": "x1"}, {"named": "x"}, {"anchors": "b"},
        {"anchors": "B"}, {"word": "Küche"}, {"word": "a b"}, {"digits": "٣"}, {"digits": "x"},
        {"posix": "hello"}, {"posix": "1"}, {"keys": {"Ab": "1"}}, {"keys": {"b": 1}},
        {"either": "Küche"}, {"either": "12"}, {"either": "a b"}]),
    ("exact", [{}, {"integer": 3}, {"integer": 3.0}, {"integer": True}, {"number": 3},
               {"number": True}, {"flag": 1}, {"flag": True}]),
    ("wide", [
        {"tenth": 0.3}, {"tenth": 0.7}, {"tenth": 0.25}, {"money": "123.45"}, {"money": "1.234"},
        {"money": 123456}, {"money": 1.5}, {"letters": "äöü"}, {"letters": "👩‍🚀"}, {"letters": "a"},
        {"several": [1, 1, "1"]}, {"listed": []}, {"listed": [1, 2, 3, 4]}, {"listed": [True]},
        {"pair": [1, "2"]}, {"pair": {}}, {"moment": "10:00"}, {"moment": 3600}, {"moment": "25:00"},
        {"aware": "2021-05-05 05:05"}, {"aware": 1e10}, {"aware": "2021-05-05"}, {"encoded": "YQ=="},
        {"encoded": "%"}, {"inner": "[1, 2]"}, {"inner": "x"}, {"inner": [1]}, {"size": "1 KB"},
        {"size": "x"}, {"path": 5}, {"address": "::1"}, {"address": 5}, {"first": 5}, {"second": 5},
        {"second": "x"}, {"named": 5}, {"other": 5}, {"words": "a,b"}, {"words": 5}, {"broken": 5},
        {"broken": "6"}, {"level": 1.0}, {"level": 2}, {"level": True}, {"unknown": 1}]),
    ("needed", [{}, {"first": 5}, {"second": "5"}, {"given": 5}]),
    ("secret", [{"key": "x"}, {}, {"key": "x", "flag": True}]),
    ("unlike", [{}]),
    ("strict", [{}, {"even": 3}, {"even": "4"}, {"extra": 1}, {"word": "bad"},
                {"even": 3, "word": 5}]),
    ("tree", [{"value": 1, "children": [{"value": 2, "children": [{"value": "3"}]}]},
              {"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]}, {}]),
    *[(name, [{}]) for name in ("nothing", "values", "surplus", "missing", "wrong", "fail")],
]

# What we take: the text of an object or a number where none is wanted as text, and null as nothing.
WE_TAKE = [("all", {"point": '{"x": 1}'}), ("all", {"one": "1"}), ("exact", {"integer": "3"}),
           ("wide", {"level": "1"}), ("all", {"union": None}), ("all", {"integer": None})]
# What pydantic takes: a tool with a secret must be given what its schema says.
PYDANTIC_TAKES = [("secret", {"key": "x", "flag": "yes"})]


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


@pytest.mark.parametrize("name, args", [(name, args) for name, several in AGREE for args in several
                                        if name not in ("missing", "wrong", "fail")])
def test_a_validation_says_what_a_call_comes_to(both, name, args):
    ours = both.callers[0].call("ovos.tools.validate", {"name": name, "args": args})
    assert ours["valid"] == ("result" in both.ask_python(
        "ovos.tools.invoke", {"name": name, "args": args}).data)


@pytest.mark.parametrize("name, args", PYDANTIC_TAKES + WE_TAKE)
def test_what_only_one_of_them_takes(both, name, args):
    ours, python = invoke(both, name, args)
    taken, refused = (python, ours) if (name, args) in PYDANTIC_TAKES else (ours, python)
    assert "result" in taken and "input validation failed" in refused["error"]


def test_rules_that_no_schema_can_say_are_told_with_their_place(both):
    ours, _ = invoke(both, "strict", {"even": 3})
    assert ours["violations"] == [{"path": "/even", "message": "Value error, must be even"}]
    ours, _ = invoke(both, "wrong", {})
    assert ours["code"] == "invalid_output" and ours["violations"][0]["path"] == "/seen"
