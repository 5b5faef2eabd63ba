# SPDX-License-Identifier: Apache-2.0
"""The comments of C sources, and which of them break the rule of docs/style.md.

    comments(text)   (line, text) of each comment, without its marks
    breaks(text)     why a comment breaks the rule, or None
"""
import re

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)

# No sentence begins with one of these.
OPENINGS = ("What", "Who", "Those", "Where", "Of", "As far as")

# The field has better words: report, return, send, receive, log, after, is.
WORDS = ("tell", "tells", "told", "telling", "say", "says", "said", "behind", "stand", "stands",
         "stood", "hear", "hears", "heard", "blame", "nobody")

STARTS = "|".join(OPENINGS)
SENTENCE = re.compile(rf"^(?P<first>(?i:{STARTS}))\b|[.!?] (?P<next>{STARTS})\b")
WORD = re.compile(rf"\b(?P<word>{'|'.join(WORDS)})\b", re.I)

# Not prose: names, code and quotations.
QUOTED = re.compile(r'`[^`]*`|"[^"]*"|@\w+|\b\w+\(\)|[\w*]+(?:->|[./_])[\w./*>-]+|\b\w*\d\w*\b')


def comments(text):
    for found in TOKEN.finditer(text):
        body = found[0]
        if body[0] != "/":
            continue
        body = body[2:-2] if body[1] == "*" else body[2:]
        lines = [re.sub(r"^\s*\*? ?", "", line) for line in body.split("\n")]
        yield text.count("\n", 0, found.start()) + 1, "\n".join(lines).strip()


def opens_badly(comment):
    """Whether its first words are among OPENINGS."""
    return re.match(rf"(?:{STARTS})\b", comment, re.I) is not None


def breaks(comment):
    prose = QUOTED.sub("_", re.sub(r"\s+", " ", comment))
    opening = SENTENCE.search(prose)
    if opening:
        return f"a sentence begins with `{opening['first'] or opening['next']}`"
    word = WORD.search(prose)
    return f"`{word['word']}`" if word else None
