"""Prints the definitions of Python files as the `ast` module sees them: one JSON line per file.

    print-definitions.py FOLDER < paths    (one path a line, as a JSON string, relative to FOLDER)

A line is {"path", "definitions": [{"kind", "qualified_name", "start_line", "end_line", "start_byte", "end_byte"}]}, or
{"path", "refused"} for what ast does not take. Decorators belong to their definition. Lines are 1-based and inclusive,
bytes 0-based and end-exclusive, of the file as it is stored. Names are as Python compares them, in form NFKC.
"""

import ast
import json
import os
import re
import sys
import tokenize
import warnings

BOM = b"\xef\xbb\xbf"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Source:
    """A file's bytes, and the byte of a position of ast in them."""

    def __init__(self, content):
        self.content = content
        with_bom = content.startswith(BOM)
        self.lines = (content[len(BOM) :] if with_bom else content).splitlines(keepends=True)
        self.starts = [len(BOM) if with_bom else 0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.encoding, _ = tokenize.detect_encoding(iter(content.splitlines(keepends=True)).__next__)

    def byte(self, line, column):
        """ast counts columns in bytes of the line as UTF-8, whatever the file's own encoding is."""
        text = self.lines[line - 1] if line <= len(self.lines) else b""
        if self.encoding not in ("utf-8", "utf-8-sig") and not text.isascii():
            before = text.decode(self.encoding).encode()[:column].decode()
            column = len(before.encode(self.encoding))
        return self.starts[line - 1] + column

    def start(self, node):
        """The first decorator's `@`, which ast leaves out, or the definition itself."""
        if not node.decorator_list:
            return node.lineno, self.byte(node.lineno, node.col_offset)
        first = node.decorator_list[0]
        expression = self.byte(first.lineno, first.col_offset)
        at = self.content.rindex(b"@", 0, expression)
        lines_between = len(re.findall(rb"\r\n|\r|\n", self.content[at:expression]))
        return first.lineno - lines_between, at


def definitions_of(content):
    source = Source(content)
    found = []
    todo = [(ast.parse(content), None, "")]
    while todo:
        node, outer, prefix = todo.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, DEFINITIONS):
                todo.append((child, outer, prefix))
                continue
            is_class = isinstance(child, ast.ClassDef)
            qualified = prefix + child.name
            start_line, start_byte = source.start(child)
            found.append(
                {
                    "kind": "class" if is_class else "method" if outer == "class" else "function",
                    "qualified_name": qualified,
                    "start_line": start_line,
                    "end_line": child.end_lineno,
                    "start_byte": start_byte,
                    "end_byte": source.byte(child.end_lineno, child.end_col_offset),
                }
            )
            todo.append((child, "class" if is_class else "function", qualified + "."))
    return sorted(found, key=lambda one: (one["start_byte"], -one["end_byte"]))


def answer(folder, path):
    with open(os.path.join(folder, path), "rb") as file:
        content = file.read()
    try:
        return {"path": path, "definitions": definitions_of(content)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"path": path, "refused": f"{type(error).__name__}: {error}"}


warnings.simplefilter("ignore")
for line in sys.stdin:
    print(json.dumps(answer(sys.argv[1], json.loads(line))))
