# SPDX-License-Identifier: Apache-2.0
"""What schemas/ and the tables of the code say, for those who make pages of it: the man pages (man/page.py) and
docs/contract.md (tests/contract)."""
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
SERVICE = ROOT / "service"


def load(path):
    return json.loads(path.read_text())


def schema(name):
    return load(SCHEMAS / f"{name}.schema.json")


def code(*folders, suffixes=(".c", ".h")):
    """The sources below these folders as one text, with neighbouring string literals joined."""
    texts = [path.read_text() for folder in folders
             for path in sorted((SERVICE / folder).rglob("*")) if path.suffix in suffixes]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts))


def constants(text):
    found = {}
    for name, value in re.findall(r"^#define (\w+)\s+(.+?)\s*(?:/\*.*)?$", text, re.M):
        found[name] = value if found.get(name, value) == value else "a name with two values"
    return found


def number(text, names):
    """The value of a constant expression of C; a text that this cannot evaluate is an error."""
    left = re.sub(r"UINT64_C\((\w+)\)|\b(\d+)[uUlL]+\b|\((?:size_t|u?int\d+_t)\)", r"\1\2", text)
    left = re.sub(r"\b[A-Z]\w*", lambda found: str(number(names[found[0]], names)) if found[0] in names else found[0], left)
    if not re.fullmatch(r"[\d\s()<*+-]+", left):
        raise ValueError(f"`{text}` is no constant that can be evaluated here")
    return eval(left)  # digits and operators only


def types_of(node):
    kind = node.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def shape(node):
    """Type and range, for a cell."""
    if node.get("$ref", "").startswith("#/$defs/step"):
        return "step"
    if "$ref" in node:
        return "definition" if "definition" in node["$ref"] else "error"
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(value)}`" for value in node["enum"] if value is not None)
    kinds = [kind for kind in types_of(node) if kind != "null"]
    text = " or ".join(kinds) or "any"
    if kinds == ["array"] and "items" in node:
        inner = shape(node["items"])
        text = f"array of {inner}" if inner not in ("object", "any") else "array"
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        text += f", {low} to {high}"
    elif low is not None:
        text += f", at least {low}"
    for key, words in (("maxLength", "at most {} characters"), ("maxItems", "at most {} items"),
                       ("minItems", "at least {} items")):
        if node.get(key):
            text += ", " + words.format(node[key])
    if "null" in types_of(node) and kinds:
        text += " or null"
    return text


def members(node, prefix=""):
    """Rows (key, node, is it required) of an object and of the objects inside it."""
    for key, inner in node.get("properties", {}).items():
        yield prefix + key, inner, key in node.get("required", [])
        items = inner.get("items", {})
        if "properties" in items:
            yield from members(items, f"{prefix}{key}[].")
        if "properties" in inner:
            yield from members(inner, f"{prefix}{key}.")
    for branch in node.get("oneOf", []):
        if "$ref" not in branch:
            yield from members(branch, prefix)


def setting_nodes(node, prefix=""):
    """The members of an object and of the objects inside it, with the `x-mistake` that they have or inherit."""
    for key, inner in node["properties"].items():
        if "x-mistake" in node:
            inner = {"x-mistake": node["x-mistake"], **inner}
        if "properties" in inner:
            yield from setting_nodes(inner, f"{prefix}{key}.")
        else:
            yield prefix + key, inner


def toolbox_setting_nodes(node):
    """The settings of a toolbox, and those of one of its tools."""
    for key, inner in setting_nodes(node):
        yield key, inner
        if key == "tools":
            yield from setting_nodes(inner["additionalProperties"], "tools.<name>.")


def default_of(node):
    return f"`{json.dumps(node['default'])}`" if "default" in node else ""


# A kind of the code whose name in manifests is another kind's.
KIND_TITLES = {"KIND_PYTHON_FILE": "python with file"}


def kinds_of_keys():
    """Which kinds take a key at the top of a manifest, as the code has it."""
    names = {**dict(re.findall(r'\[(KIND_\w+)\] =\s*\{\s*\.name = "(\w+)"', code("catalogue"))), **KIND_TITLES}
    rows = re.findall(r'\{"(\w+)", ((?:OF\(KIND_\w+\)(?: \| )?)+)\}', code("manifest"))
    return {key: [names[kind] for kind in re.findall(r"KIND_\w+", kinds)] for key, kinds in rows}


def error_branches():
    for branch in schema("error")["oneOf"]:
        yield branch["properties"]["code"]["const"], branch


def words_of(pattern):
    return pattern.removeprefix("^").removesuffix("$")


def section(page, heading):
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", page, re.M | re.S)
    return found[1] if found else ""
