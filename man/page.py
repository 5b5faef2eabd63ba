#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make a man page of its source, an .scd of scdoc(5).

A line `; make: NAME ARGUMENT…` of the source becomes what the function NAME here writes: flags, keys, messages, types
and exit statuses come from the tables that the code reads, from schemas/ and from docs/contract.md, which tests/contract
holds to the code. So no page has a list of its own.

    .scd ─expand▶ scdoc's text ─scdoc▶ roff ─tidy▶ a page without remarks of `mandoc -T lint`

usage: man/page.py SOURCE.scd PAGE
"""
import json
import re
import subprocess
import sys
from pathlib import Path

from tables import (ROOT, SCHEMAS, SERVICE, code, configuration_nodes, error_branches, field_rows, kinds_of_keys, load,
                    objects_of, schema, section, shape, toolbox_setting_nodes, words_of)

TEXT_COLUMNS = 78  # mandoc objects to more than 80 …
SIGN_COLUMNS = 8  # … and reads a character outside of ASCII as \[u2026]
JSON_COLUMNS = 70

# --- scdoc's text


def plain(text):
    """Text that scdoc takes as it is."""
    return re.sub(r"([\\*_`#\[\]|~<>+])", r"\\\1", text)


def prose(text):
    """A sentence with `words` in bold."""
    parts = re.split(r"`([^`]+)`", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text))
    return "".join(f"*{plain(part)}*" if number % 2 else plain(part) for number, part in enumerate(parts))


def first_safe(text):
    """A line that begins no list, heading or comment."""
    return f"\\{text}" if re.match(r"[-;.+]", text) else text


def entry(term, text):
    """An entry of a list of definitions; of the text each paragraph."""
    yield term
    for paragraph in text.strip().split("\n\n"):
        yield f"\t{first_safe(prose(' '.join(paragraph.split())))}"
        yield ""


def literal(text, tabs=0):
    indent = "\t" * tabs
    yield f"{indent}```"
    yield from (f"{indent}{line}" for line in text.replace("\\", "\\\\").rstrip("\n").split("\n"))
    yield f"{indent}```"
    yield ""


# --- command lines


def string_of(text):
    """The value of neighbouring string literals of C."""
    return "".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', text))


def flags(program):
    """The flags of --help."""
    source = (SERVICE / f"{program}.c").read_text()
    usage = string_of(re.search(r"char help\[\] =(.*?);\n", source, re.S)[1])
    for flag, value, text in re.findall(r"^  (--[a-z-]+)(?: (\S+))? +(.*(?:\n {3,}\S.*)*)", usage, re.M):
        yield from entry(f"*{flag}*" + (f" _{plain(value)}_" if value else ""), text)


def uncommented_code(text):
    return re.sub(r'("(?:[^"\\]|\\.)*")|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.S)


def ctl_sources():
    main = (SERVICE / "toolboxctl.c").read_text()
    names = string_of(re.search(r"#define REMEMBERED_NAMES(.*?[^\\])\n\n", main, re.S)[1])
    main = main.replace("REMEMBERED_NAMES", json.dumps(names))
    return uncommented_code(main), uncommented_code((SERVICE / "ctl" / "options.c").read_text())


LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


def ctl_commands():
    """The rows of the table of commands: name, arguments, summary, help, examples, groups of flags."""
    main, _ = ctl_sources()
    shared = dict(re.findall(r"#define (\w+_FLAGS) \((.*?)\)", main))
    rows = re.search(r"struct ctl_command commands\[\] = \{(.*?)\n\};", main, re.S)[1]
    for row in re.findall(r"\{" + r",\s*".join([LITERALS] * 5) + r",\s*([^,]+),", rows):
        groups = row[5]
        for name, value in shared.items():
            groups = groups.replace(name, value)
        yield *(string_of(text) for text in row[:5]), set(re.findall(r"CTL_FLAG_\w+", groups))


def ctl_flag_rows():
    """The rows of the table of flags: name, value, help, groups."""
    _, options = ctl_sources()
    rows = re.search(r"struct flag flags\[\] = \{(.*?)\n\};", options, re.S)[1]
    for name, value, text, groups in re.findall(
            r'\{"(--[a-z-]+)",\s*("\S*?"|NULL),\s*' + LITERALS + r",\s*([^,]+),", rows):
        yield name, "" if value == "NULL" else json.loads(value), string_of(text), set(re.findall(r"CTL_FLAG_\w+", groups))


def commands():
    rows = list(ctl_flag_rows())
    for name, arguments, summary, text, examples, groups in ctl_commands():
        if not summary:
            continue
        yield f"## {name} {arguments}".rstrip()
        yield ""
        yield first_safe(prose(f"{summary[0].upper()}{summary[1:]}. {' '.join(text.split())}".rstrip()))
        yield ""
        taken = [flag for flag, _, _, of in rows if of & groups]
        if taken:
            yield f"Flags: {', '.join(f'*{flag}*' for flag in taken)}."
            yield ""
        yield from literal(re.sub("^  ", "", examples, flags=re.M), 1)


def command_flags():
    everywhere = {"CTL_FLAG_COMMON"}
    known = list(ctl_commands())
    for name, value, text, groups in ctl_flag_rows():
        takers = [row[0] for row in known if row[5] & groups and row[2]]
        with_whom = "" if groups & everywhere else f". Of {', '.join(takers)}"
        yield from entry(f"*{name}*" + (f" _{plain(value)}_" if value else ""), f"{text}{with_whom}.")


def topics():
    source = (SERVICE / "ctl" / "help" / "help.c").read_text()
    rows = re.search(r"\} topics\[\] = \{(.*?)\n\};", source, re.S)[1]
    for name, summary in re.findall(r'\{"([a-z-]+)", "(.*?)",', rows):
        yield from entry(f"*{name}*", f"{summary[0].upper()}{summary[1:]}.")


def rows_of(heading):
    page = (ROOT / "docs" / "contract.md").read_text()
    for line in re.findall(r"^\|.*\|$", section(page, heading), re.M):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not set("".join(cells)) <= set("- "):
            yield cells


def exits(program):
    head, *rows = list(rows_of("Command lines"))
    column = {"toolboxd": 1, "toolbox-agent": 1, "toolboxctl": 2}[program]
    assert head[1] == "`toolboxd`" and head[2] == "`toolboxctl`"
    for row in rows:
        text = row[column]
        if program == "toolbox-agent":
            text = "; ".join(part for part in text.split("; ") if "--check" not in part)
        if text and row[0].isdigit():
            yield from entry(f"*{row[0]}*", f"{text[0].upper()}{text[1:]}.")


def environment(program):
    """All variables; of toolboxctl the ones that its own code reads, or whose words name it."""
    read = set(re.findall(r'"([A-Z][A-Z_]+)"', code("ctl", suffixes=(".c",))))
    for name, text in list(rows_of("Environment"))[1:]:
        name = name.strip("`")
        if program == "toolboxctl" and "toolboxctl" not in text and name not in read:
            continue
        yield from entry(f"*{plain(name)}*", f"{text[0].upper()}{text[1:]}.")


# --- keys


def key_entry(key, node, notes=()):
    facts = [shape(node)]
    if "default" in node:
        facts.append(f"default `{json.dumps(node['default'])}`")
    facts += notes
    yield f"*{plain(key)}* ({prose('; '.join(facts))})"
    yield f"\t{first_safe(prose(node.get('description') or 'See ' + key.split('.')[0] + '.'))}"
    yield ""


def configuration():
    for key, node in configuration_nodes():
        yield from key_entry(key, node)


def websocket():
    for key, node in schema("configuration")["properties"]["websocket"]["properties"].items():
        yield from key_entry(key, node)


def toolboxes():
    node = schema("configuration")["properties"]["toolboxd"]["properties"]["toolboxes"]["additionalProperties"]
    for key, inner in toolbox_setting_nodes(node):
        yield from key_entry(key, inner)


def described(node):
    return node if "description" in node else {**node, "description": "An object: see below." if "properties" in node else "Its value."}


def manifest():
    top = schema("toolbox-manifest")
    tool = top["properties"]["tools"]["items"]
    of_kinds = kinds_of_keys()
    for key, node in top["properties"].items():
        yield from key_entry(key, described(node), [f"kinds {', '.join(of_kinds[key])}"] if key in of_kinds else [])
    for title, node in objects_of(top):
        yield f"# MEMBERS OF {title.upper()}"
        yield ""
        for key, inner in node["properties"].items():
            yield from key_entry(key, described(inner), ["required"] if key in node.get("required", []) else [])


# --- messages


def pretty(value, columns=JSON_COLUMNS, indent=0):
    """JSON that breaks where a line would be too long."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= columns or not isinstance(value, (dict, list)) or not value:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {pretty(item, columns, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{' ' * indent}}}"
    return "[\n" + ",\n".join(inner + pretty(item, columns, indent + 2) for item in value) + f"\n{' ' * indent}]"


def fields(node):
    for key, kind, text, required in field_rows(node):
        yield f"\t*{plain(key)}* ({prose(kind)}{'' if required else ', optional'})"
        if text:
            yield f"\t\t{first_safe(prose(text))}"
        yield ""


def example(topic, node):
    for data in node["examples"]:
        yield from literal(pretty({"type": topic, "data": data}), 1)


def message(topic, path, title):
    node = load(path)
    yield first_safe(prose(f"{title}{node['description']}"))
    yield ""
    yield from fields(node)
    yield from example(topic, node)


def requests(folder):
    """Each request with its response; one whose data is empty may have no schema."""
    for path in sorted((SCHEMAS / folder).glob("*.response.schema.json")):
        topic = path.name.removesuffix(".response.schema.json")
        asked = path.with_name(f"{topic}.request.schema.json")
        if topic + ".schema.json" in {one.name for one in path.parent.iterdir()}:
            continue  # a guest's answer
        yield f"## {topic}"
        yield ""
        if asked.exists():
            yield from message(topic, asked, "")
        yield from message(f"{topic}.response", path, "Response: ")


def broadcasts(folder):
    for path in sorted((SCHEMAS / folder).glob("*.schema.json")):
        topic = path.name.removesuffix(".schema.json")
        owner = topic.removesuffix(".request").removesuffix(".response")
        is_guests = topic.endswith(".response") and path.with_name(f"{owner}.schema.json").exists()
        if topic.endswith((".request", ".response")) and not is_guests:
            continue
        yield f"## {topic}"
        yield ""
        yield from message(topic, path, "")


def errors():
    for name, branch in error_branches():
        words = words_of(branch["properties"]["error"]["pattern"]).rstrip()
        keys = [f"`{key}`" for key in branch["properties"] if key not in ("code", "error")]
        more = f" Further members: {', '.join(keys)}." if keys else ""
        yield from entry(f"*{plain(name)}*", f"`error` begins with `{words}`. {branch['description']}{more}")


# --- toolbox.h


HEADER = SERVICE / "include" / "toolbox.h"
BANNER = re.compile(r"/\* ── (.*?) ─+(.*?)\*/", re.S)


def uncommented(text):
    return "\n".join(re.sub(r"^ ?\*? ?", "", line).rstrip() for line in text.split("\n")).strip("\n")


def paragraphs(text):
    """The text of a comment: headings in capitals, indented lines as they are."""
    for block in re.split(r"\n\n+(?=\S)", text):
        lines = block.split("\n")
        n_words = next((number for number, line in enumerate(lines) if not line or line[0] == " "), len(lines))
        words = " ".join(lines[:n_words])
        drawn = "\n".join(line[4:] for line in lines[n_words:]).strip("\n")
        if re.fullmatch(r"[A-Z ]{4,}", words):
            yield f"# {words}"
            yield ""
        elif words:
            yield first_safe(prose(words))
            yield ""
        if drawn:
            yield from literal(drawn)


def header_manual():
    text = HEADER.read_text()
    head = uncommented(re.search(r"#define TOOLBOX_H\n\n/\*(.*?)\*/", text, re.S)[1])
    yield from paragraphs(head.split("\n\n", 1)[1])


def header_types():
    text = HEADER.read_text()
    body = text[text.index("#define TOOLBOX_API_VERSION"):BANNER.search(text).start()]
    yield from literal(body.replace("\t", "    "))


def header_functions():
    text = HEADER.read_text()
    parts = BANNER.split(text)[1:]
    for name, intro, body in zip(parts[0::3], parts[1::3], parts[2::3]):
        found = re.findall(r"(?:/\*((?:(?!\*/).)*)\*/\n)?static inline ([^{;]+?)\n\{", body, re.S)
        if not found:
            continue
        yield f"## {name[0].upper()}{name[1:]}"
        yield ""
        if intro.strip(" *\n─"):
            yield from paragraphs(uncommented(intro.strip(" \n─")))
        for comment, prototype in found:
            yield f"*{plain(' '.join(prototype.split()).replace('( ', '('))};*"
            yield ""
            for line in paragraphs(uncommented(comment)) if comment else ():
                yield "\t" + line if line else ""


# --- the page


def expand(source):
    for line in source.split("\n"):
        found = re.fullmatch(r"; make: (\w+)(?: (\S+))?", line)
        if not found:
            yield line
            continue
        yield from globals()[found[1]](*(found[2] or "").split())


def columns(text):
    return sum(1 if sign.isascii() else SIGN_COLUMNS for sign in text)


def folded(line, is_literal):
    """A line of roff as lines of at most TEXT_COLUMNS, which mean the same."""
    while columns(line) > TEXT_COLUMNS:
        at = next(size for size in range(len(line), 0, -1) if columns(line[:size]) < TEXT_COLUMNS)
        if is_literal:
            while line[at - 1] == "\\":
                at -= 1
            yield line[:at] + "\\"
        else:
            at = line.rfind(" ", 1, at)
            while at > 0 and line[at + 1] in ".'":
                at = line.rfind(" ", 1, at)
            if at <= 0:
                break
            yield line[:at]
            at += 1
        line = line[at:]
    yield line


def tidy(roff):
    """scdoc's roff without paragraphs of nothing and without long lines."""
    lines = roff.rstrip("\n").split("\n")
    is_literal = False
    before = ""
    for number, line in enumerate(lines):
        after = next((one for one in lines[number + 1:] if one), ".SH")
        if line in (".nf", ".fi"):
            is_literal = line == ".nf"
        if line == ".P" and (after.startswith((".P", ".SH", ".SS", ".RE")) or before.startswith((".SH", ".SS", ".TH"))):
            continue
        if line.startswith((".", "'")):
            yield line
            if line == ".RE" and not after.startswith(".") or line == ".RE" and after == ".nf":
                yield ".P"
        elif line or is_literal:
            yield from folded(line if is_literal else line.rstrip(), is_literal)
        before = line or before


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, page = map(Path, sys.argv[1:])
    text = "\n".join(expand(source.read_text()))
    done = subprocess.run(["scdoc"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{source}: {done.stderr.strip()}")
    page.write_text("\n".join(tidy(done.stdout)) + "\n")


if __name__ == "__main__":
    main()
