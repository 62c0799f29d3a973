"""Compares the comments of files in two folders: one JSON line per file that differs.

    compare-comments.py BEFORE AFTER < paths    (one path a line, as a JSON string)

A line is {"path", "lost": [comment], "moved": [comment]}. A comment is moved when nothing is left of its statement beside it:
it stood at the end of a line and stands alone now, or the reverse, or its statement has none of the names, numbers and
words in strings it had before. The statement of a comment that stands alone is the one that follows it.
"""

import collections
import json
import os
import re
import sys
import tokenize

SKIPPED = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.COMMENT}
WORDS = {tokenize.NAME, tokenize.NUMBER, tokenize.STRING}


def placed_comments(path):
    """Pairs of a comment and its place: whether it stands alone, and the words of its statement."""
    with open(path, "rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    statements, waiting, current = [], [], {"words": set(), "comments": []}
    for token in tokens:
        if token.type == tokenize.COMMENT:
            alone = token.line[: token.start[1]].strip() == ""
            inside = bool(current["words"]) or current.get("open")
            (current["comments"] if inside else waiting).append((token.string, alone))
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            statements.append((current["words"], current["comments"]))
            current = {"words": set(), "comments": []}
        elif token.type not in SKIPPED:
            if not current.get("open"):
                current["open"] = True
                current["comments"] = waiting + current["comments"]
                waiting = []
            if token.type in WORDS:
                current["words"].update(re.findall(r"\w+", token.string))
    if waiting:
        statements.append((set(), waiting))
    # A comment after the last token of a line comes before its NEWLINE: it is in the statement already.
    return [(text, alone, frozenset(words)) for words, comments in statements for text, alone in comments]


def compare(before, after):
    places = collections.defaultdict(list)
    for text, alone, words in after:
        places[text].append((alone, words))
    lost, moved = [], []
    for text, alone, words in before:
        left = places[text]
        if not left:
            lost.append(text)
            continue
        same = [one for one in left if one[0] == alone and (not words or not one[1] or one[1] & words)]
        if not same:
            moved.append(text)
        left.remove(max(same, key=lambda one: len(one[1] & words)) if same else left[0])
    return lost, moved


def main(before, after):
    for path in map(json.loads, sys.stdin):
        try:
            lost, moved = compare(placed_comments(os.path.join(before, path)), placed_comments(os.path.join(after, path)))
        except (tokenize.TokenError, SyntaxError, ValueError):
            continue
        if lost or moved:
            print(json.dumps({"path": path, "lost": lost, "moved": moved}))


main(*sys.argv[1:])
