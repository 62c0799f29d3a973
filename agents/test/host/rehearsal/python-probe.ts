/**
 * A Python program that calls what `importHere` imports with simple arguments, and prints one JSON object for each call that says
 * something: `{call, imports, result}`, `{call, imports, raises}`, or `{call, imports, state}` with what its object has
 * afterwards. Values are expressions that can be written into a test.
 */
export function pythonProbe(of: { importHere: string; qualifiedName: string; lineLength: number }): string {
  const { importHere, qualifiedName, lineLength } = of
  return `${importHere}\nsubject_path = ${JSON.stringify(qualifiedName)}\nline_length = ${lineLength}\n${program}`
}

const program = String.raw`
import asyncio, collections.abc, dataclasses, datetime, decimal, enum, fractions, inspect, itertools, json, pathlib, traceback, types, typing

MOST_CALLS, MOST_SHOWN, MOST_LENGTH, DEPTH, ROOM = 60, 6, 300, 3, 30
owner_name, _, rest = subject_path.partition(".")
owner = globals()[owner_name]

class Unknown(Exception):
    pass

def imported(cls):
    if cls.__module__ == "builtins":
        return cls.__qualname__, set()
    if cls.__module__ in ("datetime",):
        return "datetime." + cls.__qualname__, {"import datetime"}
    if "<" in cls.__qualname__ or cls.__module__ in ("__main__", "typing", "io", "_io"):
        raise Unknown
    return cls.__qualname__, {f"from {cls.__module__} import {cls.__qualname__.partition('.')[0]}"}

def literals(*texts):
    return [(text, set()) for text in texts]

BY_TYPE = {
    int: literals("3", "0", "100"), float: literals("2.5", "0.0"), bool: literals("True", "False"),
    str: literals("'abc'", "''", "'a b'", "'12'"), bytes: literals("b'ab'", "b''"), type(None): literals("None"),
    decimal.Decimal: [("Decimal('2.5')", {"from decimal import Decimal"})],
    fractions.Fraction: [("Fraction(3, 2)", {"from fractions import Fraction"})],
    datetime.date: [("datetime.date(2024, 3, 1)", {"import datetime"})],
    datetime.datetime: [("datetime.datetime(2024, 3, 1, 12, 30)", {"import datetime"})],
    datetime.timedelta: [("datetime.timedelta(days=2)", {"import datetime"})],
    pathlib.Path: [("Path('a/b.txt')", {"from pathlib import Path"})],
    list: literals("[]", "[1, 2]"), tuple: literals("()"), set: literals("set()"), dict: literals("{}"),
    typing.TextIO: [("io.StringIO()", {"import io"})], object: literals("3", "'abc'"),
}
UNKNOWN = literals("3", "'abc'", "[1, 2]", "{}", "None")

def values_of(kind, depth):
    if kind is inspect.Parameter.empty or kind is typing.Any or isinstance(kind, typing.TypeVar):
        return UNKNOWN
    if kind is None:
        return BY_TYPE[type(None)]
    origin, given = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return literals(*map(repr, given))
    if origin in (typing.Union, types.UnionType):
        found = [values_of(one, depth) for one in given]
        return [value for group in itertools.zip_longest(*found) for value in group if value is not None]
    if origin is not None:
        return containers(origin, given, depth)
    if kind in BY_TYPE:
        return BY_TYPE[kind]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        name, lines = imported(kind)
        return [(f"{name}.{member.name}", lines) for member in list(kind)[:3]]
    if isinstance(kind, type) and depth > 0 and not inspect.isabstract(kind) and not getattr(kind, "_is_protocol", False):
        return list(itertools.islice(calls_of(kind, imported(kind), depth - 1), 3))
    if kind in (collections.abc.Sequence, collections.abc.Iterable):
        return literals("[]", "[1, 2]")
    raise Unknown

def containers(origin, given, depth):
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        (key, lines), (value, more) = values_of(given[0], depth)[0], values_of(given[1], depth)[0]
        return [("{%s: %s}" % (key, value), lines | more), ("{}", set())]
    if origin is tuple and given and given[-1] is not Ellipsis:
        parts = [values_of(one, depth)[0] for one in given]
        return [("(%s,)" % ", ".join(text for text, _ in parts), set().union(*(lines for _, lines in parts)))]
    if origin is type or origin is collections.abc.Callable:
        raise Unknown
    items = values_of(given[0], depth)[:2]
    around = {set: "{%s}", frozenset: "frozenset({%s})", tuple: "(%s,)"}.get(origin, "[%s]")
    lines = set().union(*(more for _, more in items))
    return [(around % ", ".join(text for text, _ in items), lines), ("set()" if origin is set else "[]", set())]

def hints_of(function):
    try:
        return typing.get_type_hints(function)
    except Exception:
        return {}

def calls_of(function, named, depth):
    """Expressions that call it, each with the imports that it needs: with the first values, then each parameter with its others."""
    name, lines = named
    target = function.__init__ if isinstance(function, type) else function
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    hints, choices = hints_of(target), []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        try:
            found = values_of(hints.get(one.name, one.annotation if not isinstance(one.annotation, str) else one.empty), depth)
        except (Unknown, IndexError):
            if one.default is one.empty:
                return
            continue
        optional = one.default is not one.empty
        choices.append((one, ([None] if optional else []) + list(found)))

    def call(picked):
        texts, needed = [], set(lines)
        skipped = False
        for (one, _), value in zip(choices, picked):
            if value is None:
                skipped = True
                continue
            text, more = value
            texts.append(f"{one.name}={text}" if one.kind == one.KEYWORD_ONLY or skipped else text)
            needed |= more
        return f"{name}({', '.join(texts)})", needed

    first = [values[0] for _, values in choices]
    yield call(first)
    for at, (_, values) in enumerate(choices):
        for value in values[1:]:
            yield call([*first[:at], value, *first[at + 1 :]])
    if len(choices) > 1:
        yield call([values[-1] for _, values in choices])

def shown(value, depth=4):
    """An expression for a value, with the imports that it needs."""
    if depth == 0:
        raise Unknown
    if value is None or type(value) in (int, bool, str, bytes):
        text = repr(value)
        # A formatter cannot break it.
        if len(text) > max(line_length - ROOM, 20):
            raise Unknown
        return text, set()
    if type(value) is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise Unknown
        return repr(value), set()
    if type(value) in (list, tuple, set, frozenset):
        items = sorted(value, key=repr) if type(value) in (set, frozenset) else value
        parts = [shown(one, depth - 1) for one in items]
        text, needed = ", ".join(text for text, _ in parts), set().union(*(lines for _, lines in parts))
        if type(value) is tuple:
            return f"({text}{',' if len(parts) == 1 else ''})", needed
        if type(value) is list:
            return f"[{text}]", needed
        name = type(value).__name__
        return (f"{name}()" if not parts else "{%s}" % text if name == "set" else "frozenset({%s})" % text), needed
    if type(value) is dict:
        parts = [(shown(key, depth - 1), shown(one, depth - 1)) for key, one in value.items()]
        needed = set().union(*(a[1] | b[1] for a, b in parts))
        return "{%s}" % ", ".join(f"{a[0]}: {b[0]}" for a, b in parts), needed
    if isinstance(value, enum.Enum):
        name, needed = imported(type(value))
        return f"{name}.{value.name}", needed
    name, needed = imported(type(value))
    text = repr(value)
    scope = {}
    for line in needed:
        exec(line, scope)
    try:
        if text.startswith(name) and eval(text, scope) == value:
            return text, needed
    except Exception:
        pass
    if dataclasses.is_dataclass(value):
        parts = [(one.name, shown(getattr(value, one.name), depth - 1)) for one in dataclasses.fields(value) if one.init]
        text = f"{name}({', '.join(f'{key}={one[0]}' for key, one in parts)})"
        return text, needed.union(*(one[1] for _, one in parts))
    raise Unknown

def evaluated(call, needed):
    scope = {}
    for line in needed:
        exec(line, scope)
    return eval(call, scope)

def settled(call, needed):
    """The call as a test writes it, and its value: of a coroutine what it returns, of a generator all that it yields."""
    value = evaluated(call, needed)
    if inspect.iscoroutine(value):
        value.close()
        call, needed = f"asyncio.run({call})", needed | {"import asyncio"}
    elif inspect.isgenerator(value):
        call = f"list({call})"
    else:
        return call, needed, value
    return call, needed, evaluated(call, needed)

def subjects():
    """Expressions for what is tested, and of a method the object that it is called on."""
    base = imported(owner)
    if not rest:
        for call, needed in calls_of(owner, base, DEPTH):
            yield None, call, needed
        return
    member = inspect.getattr_static(owner, rest)
    if isinstance(member, (staticmethod, classmethod)):
        for call, needed in calls_of(getattr(owner, rest), (f"{base[0]}.{rest}", base[1]), DEPTH):
            yield None, call, needed
        return
    if issubclass(owner, enum.Enum):
        makers = [(f"{base[0]}.{one.name}", base[1]) for one in list(owner)[:3]]
    else:
        makers = list(itertools.islice(calls_of(owner, base, DEPTH), 6))
    for made, lines in makers:
        if isinstance(member, property) or not callable(member):
            yield None, f"{made}.{rest}", lines
            continue
        bound = types.SimpleNamespace(make=lambda: evaluated(made, lines))
        try:
            function = getattr(bound.make(), rest)
        except Exception:
            continue
        for call, needed in itertools.islice(calls_of(function, (f".{rest}", lines), DEPTH), 8):
            yield made, made + call, needed

def raised(error):
    name, needed = imported(type(error))
    # What an argument refuses when it is made says nothing of the subject.
    if (rest or owner_name).split(".")[-1] not in [frame.name for frame in traceback.extract_tb(error.__traceback__)]:
        raise Unknown
    if isinstance(error, (TypeError, AttributeError, NameError, ImportError, RecursionError, AssertionError, NotImplementedError)):
        raise Unknown
    # Unpacking what has another length: no caller relies on that.
    if isinstance(error, ValueError) and "values to unpack" in str(error):
        raise Unknown
    return {"raises": name, "imports": needed}

def state_after(made, call, needed):
    scope = {}
    for line in needed:
        exec(line, scope)
    scope["subject"] = eval(made, scope)
    before = dict(vars(scope["subject"]))
    inside = call[len(made):]
    eval("subject" + inside, scope)
    changed = {}
    for name, value in vars(scope["subject"]).items():
        if name.startswith("_"):
            continue
        text, more = shown(value)
        changed[name] = text
        needed |= more
    if not changed or before == {}:
        raise Unknown
    return {"make": made, "call": "subject" + inside, "state": changed, "imports": needed}

found, seen = [], set()
for made, call, needed in itertools.islice(subjects(), MOST_CALLS):
    try:
        try:
            call, needed, value = settled(call, needed)
            again = evaluated(call, needed)
        except Exception as error:
            case = {"call": call, **raised(error)}
            case["imports"] |= needed
        else:
            if value is None and made is not None:
                case = state_after(made, call, set(needed))
            else:
                text, more = shown(value)
                if shown(again)[0] != text:
                    continue
                case = {"call": call, "result": text, "imports": needed | more}
    except Exception:
        continue
    key = case.get("result") or case.get("raises") or json.dumps(case.get("state"))
    if key in seen or len(json.dumps(sorted(case["imports"]))) + len(call) + len(key) > MOST_LENGTH * 2:
        continue
    seen.add(key)
    print(json.dumps({**case, "imports": sorted(case["imports"])}))
    found.append(case)
    if len(found) == MOST_SHOWN:
        break
`
