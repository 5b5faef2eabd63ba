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


# What a reference means in a cell.
REFERENCES = {"#/$defs/step": "step", "urn:toolboxd:definition": "definition", "urn:toolboxd:definition#/$defs/full": "definition",
              "urn:toolboxd:messages:ovos.tools.approval.requested": "data of `ovos.tools.approval.requested`"}


def shape(node):
    """Type and range, for a cell."""
    if "$ref" in node:
        return REFERENCES[node["$ref"]]
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        texts = [f"`{json.dumps(value)}`" for value in node["enum"] if value is not None]
        return ", ".join(texts) + (" or null" if None in node["enum"] else "")
    if "type" not in node and ("oneOf" in node or "anyOf" in node):
        return " or ".join(shape(branch) for branch in node.get("oneOf", node.get("anyOf")))
    kinds = [kind for kind in types_of(node) if kind != "null"]
    text = " or ".join(kinds or types_of(node)) or "any"
    if kinds == ["array"] and "items" in node:
        inner = shape(node["items"])
        text = f"array of ({inner})" if re.search(", | or ", inner) else f"array of {inner}" if inner not in ("object", "any") else "array"
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
    for branch in (*node.get("oneOf", []), *node.get("anyOf", [])):
        if "$ref" not in branch:
            yield from members(branch, prefix)


def field_rows(node):
    """Rows (key, type and range, description, is it required): a key that only alternatives have has the shapes of all."""
    found = {}
    for key, inner, required in members(node):
        row = found.setdefault(key, ([], inner.get("description", ""), required))
        if key not in node.get("properties", {}) or not row[0]:
            row[0].append(shape(inner))
    for key, (shapes, text, required) in found.items():
        yield key, " or ".join(dict.fromkeys(shapes)), text, required


def setting_nodes(node, prefix=""):
    """The members of an object and of the objects inside it, with the `x-mistake` that they have or inherit."""
    for key, inner in node["properties"].items():
        if "x-mistake" in node:
            inner = {"x-mistake": node["x-mistake"], **inner}
        if "properties" in inner:
            yield from setting_nodes(inner, f"{prefix}{key}.")
        else:
            yield prefix + key, inner


def inner_setting_nodes(key, node):
    """The members of the objects that a setting is a list or a map of, or that it may be."""
    mistake = {name: node[name] for name in ("x-mistake",) if name in node}
    for way, inner in ((f"{key}[].", node.get("items", {})), (f"{key}.<name>.", node.get("additionalProperties", {})),
                       *((f"{key}.", branch) for branch in node.get("oneOf", []))):
        if isinstance(inner, dict) and "properties" in inner:
            yield from setting_nodes({**mistake, **inner}, way)


def configuration_nodes():
    """The settings of `toolboxd` but those of one toolbox, with the members of the objects inside them."""
    for key, node in setting_nodes(schema("configuration")["properties"]["toolboxd"]):
        yield key, node
        if key != "toolboxes":
            yield from inner_setting_nodes(key, node)


def objects_within(node, name):
    """Each object inside an object, with its way: of an array NAME[], of an object with any keys NAME{}."""
    parts = [(f"{name}.{key}" if name else key, inner) for key, inner in node.get("properties", {}).items()]
    parts += [(f"{name}[]", node.get("items")), (f"{name}{{}}", node.get("additionalProperties"))]
    parts += [(f"{name}{{}}", inner) for inner in node.get("patternProperties", {}).values()]
    for way, inner in parts:
        if isinstance(inner, dict):
            if any("type" in one or "enum" in one or "description" in one for one in inner.get("properties", {}).values()):
                yield way, inner
            yield from objects_within(inner, way)


def objects_of(top):
    """Each object inside a schema, and in its definitions, but for the ones of which nothing but bounds is there."""
    yield from objects_within(top, "")
    for name, node in top.get("$defs", {}).items():
        yield name, node
        yield from objects_within(node, name)


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
