"""Prints what the bench needs to know of Python files: one JSON line per file.

    read-sources.py FOLDER < paths    (one path a line, as a JSON string, relative to FOLDER)

A line is {"path", "head", "comments": [{"line", "text"}], "definitions": [...]}; "definitions" is null where ast refuses
the file, and "comments" where tokenize does. A definition is {"name" (qualified), "kind", "line", "docstring": [first line,
last line] or null, "apart": why nobody would expect a docstring of it, or null}.
"""

import ast
import io
import json
import os
import sys
import tokenize
import warnings

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HEAD_BYTES = 1000


def last_name(node):
    """`overload` of `overload`, `typing.overload` and `overload(...)`; `setter` of `x.setter`."""
    if isinstance(node, (ast.Call, ast.Subscript)):
        return last_name(node.func if isinstance(node, ast.Call) else node.value)
    return getattr(node, "attr", getattr(node, "id", ""))


def is_stub(node):
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return len(body) == 1 and isinstance(body[0], ast.Expr) and getattr(body[0].value, "value", None) is ...


def reason_apart(node, within):
    decorators = {last_name(one) for one in node.decorator_list}
    if any(isinstance(one, FUNCTIONS) for one in within):
        return "nested in a function"
    if any(one.name.startswith("_") for one in [*within, node]):
        return "private"
    if any("Protocol" in map(last_name, one.bases) for one in [*within, node] if isinstance(one, ast.ClassDef)):
        return "protocol"
    for name in ("overload", "override", "setter", "deleter"):
        if name in decorators:
            return name
    return "stub" if is_stub(node) else None


def docstring_lines(node):
    if ast.get_docstring(node, clean=False) is None:
        return None
    return [node.body[0].lineno, node.body[0].end_lineno]


def exported_names(tree):
    """What `__all__` lists, or None: as pydocstyle, a name that it leaves out is private."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["__all__"]:
            if isinstance(node.value, (ast.List, ast.Tuple)):
                return {getattr(one, "value", None) for one in node.value.elts}
    return None


def definitions(node, exported, within=()):
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield from definitions(child, exported, within)
            continue
        top = [*within, child][0].name
        is_left_out = exported is not None and top not in exported
        of_class = bool(within) and isinstance(within[-1], ast.ClassDef)
        kind = "class" if isinstance(child, ast.ClassDef) else "method" if of_class else "function"
        yield {
            "name": ".".join([*(one.name for one in within), child.name]),
            "kind": kind,
            "line": child.lineno,
            "docstring": docstring_lines(child),
            "apart": reason_apart(child, within) or ("not in __all__" if is_left_out else None),
        }
        yield from definitions(child, exported, (*within, child))


def module_definitions(content):
    tree = ast.parse(content)
    return list(definitions(tree, exported_names(tree)))


def comments(content):
    tokens = tokenize.tokenize(io.BytesIO(content).readline)
    return [{"line": one.start[0], "text": one.string.rstrip()} for one in tokens if one.type == tokenize.COMMENT]


def or_none(read, *refusals):
    try:
        return read()
    except refusals:
        return None


def main(folder):
    warnings.simplefilter("ignore")
    for path in map(json.loads, sys.stdin):
        with open(os.path.join(folder, path), "rb") as file:
            content = file.read()
        refused = (SyntaxError, ValueError, RecursionError)
        line = {
            "path": path,
            "head": content[:HEAD_BYTES].decode("utf-8", "replace"),
            "comments": or_none(lambda: comments(content), tokenize.TokenError, *refused),
            "definitions": or_none(lambda: module_definitions(content), *refused),
        }
        print(json.dumps(line))


main(sys.argv[1])
