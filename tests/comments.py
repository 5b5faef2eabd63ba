# SPDX-License-Identifier: Apache-2.0
"""The comments of C sources, and which of them break the rule of docs/style.md.

    comments(text)     (line, text) of each comment, without its marks
    breaks(text)       why a comment breaks the rule, or None
    sentences(text)    (line, sentence) of each sentence of a comment, without drawings and tables
    points(sentence)   the words that point at a noun instead of naming it, or None
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


# Words that refer to a noun of another clause. `of` after a pronoun asks the reader for the noun, but
# `one of the files` has it. `There is one` follows its noun, and a number is no pronoun: `is one byte`.
POINTERS = re.compile(
    r"\b(?:(?:that|those|ones|others?) of"
    r"|(?:the|that|this|an?|another|other) (?:one|none) of"
    r"|(?:one|none) of (?:it|them|those|which|whom|whose)"
    r"|of before|(?<!there )is none"
    r"|(?<!there )is one(?= ?(?:[,.;:)]|$|(?:that|which|who|with|without|in|for|to|from|by|at|if|and|or|too)\b))"
    r")\b", re.I)
PRONOUNS = frozenset(("it", "its", "one", "those", "that"))
# More pronouns than this, among as many words, need a second reading.
PRONOUNS_MAX = 2
PRONOUNS_WORDS = 10

# A line of a drawing or of a table.
DRAWN = re.compile(r"[─│┌└├┐┘┤┬┴┼▶◀▲▼→←]|\S {3,}\S")


def sentences(comment):
    line = 0
    comment = "\n".join("" if DRAWN.search(text) else text for text in comment.split("\n"))
    for part in re.split(r"((?<=[.!?])\s+(?=[A-Z@`(])|\n\s*\n|\n\s*(?:- |\d+\. ))", comment):
        if re.search(r"\w\w", part):
            yield line, " ".join(part.split())
        line += part.count("\n")


def points(sentence):
    prose = QUOTED.sub("_", sentence)
    found = POINTERS.search(prose)
    if found:
        return f"`{found[0]}`"
    words = re.findall(r"[\w']+", prose.lower())
    for first in range(max(1, len(words) - PRONOUNS_WORDS + 1)):
        few = [word for word in words[first:first + PRONOUNS_WORDS] if word in PRONOUNS]
        if len(few) > PRONOUNS_MAX:
            return f"{len(few)} pronouns in {PRONOUNS_WORDS} words"
    return None
