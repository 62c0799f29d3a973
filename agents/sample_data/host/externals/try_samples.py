"""Calls a definition with cases of arguments, and writes a JSON line for each that was tried, with what it raised.

Arguments: the report, the line that imports the definition, its qualified name, the cases as JSON. A case whose arguments cannot be
made from data, or that wants a file or a connection, is not tried.
"""
import asyncio, base64, collections, collections.abc, datetime, decimal, enum, fractions, inspect, ipaddress, itertools, json, os
import pathlib, re, sys, types, typing, uuid

MOST_ITEMS, MOST_LENGTH = 1000, 200
LISTS = (list, collections.deque, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable,
         collections.abc.Collection, collections.abc.Container, collections.abc.Reversible)
SETS = (set, collections.abc.Set, collections.abc.MutableSet)
DICTS = (dict, collections.OrderedDict, collections.abc.Mapping, collections.abc.MutableMapping)
TEXTS = {
    bytes: base64.b64decode, bytearray: lambda text: bytearray(base64.b64decode(text)),
    datetime.date: datetime.date.fromisoformat, datetime.time: datetime.time.fromisoformat,
    datetime.datetime: datetime.datetime.fromisoformat, decimal.Decimal: decimal.Decimal,
    fractions.Fraction: fractions.Fraction, uuid.UUID: uuid.UUID, re.Pattern: re.compile,
    pathlib.Path: pathlib.Path, pathlib.PurePath: pathlib.PurePath, pathlib.PurePosixPath: pathlib.PurePosixPath,
    os.PathLike: pathlib.Path, ipaddress.IPv4Address: ipaddress.IPv4Address, ipaddress.IPv6Address: ipaddress.IPv6Address,
}


class Unfit(Exception):
    """The data does not say which argument is meant."""


def of_text(value, make):
    if not isinstance(value, str):
        raise Unfit
    try:
        return make(value)
    except Exception:
        raise Unfit from None


def made(value, kind):
    if kind in (typing.Any, object, inspect.Parameter.empty) or isinstance(kind, typing.TypeVar):
        return value
    if hasattr(kind, "__supertype__"):
        return made(value, kind.__supertype__)
    origin, given = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return one_of(value, given)
    if origin in (typing.Union, types.UnionType):
        for one in given:
            try:
                return made(value, one)
            except Unfit:
                continue
        raise Unfit
    if kind is None or kind is type(None):
        return one_of(value, (None,))
    kind = origin or kind
    if kind in (*LISTS, *SETS, frozenset, tuple):
        return items(value, kind, given)
    if kind in DICTS:
        return mapping(value, given)
    return plain(value, kind)


def one_of(value, members):
    if not any(value == one and type(value) is type(one) for one in members):
        raise Unfit
    return value


def items(value, kind, given):
    if not isinstance(value, list):
        raise Unfit
    if kind is tuple and given and given[-1] is not Ellipsis:
        if len(given) != len(value):
            raise Unfit
        return tuple(made(one, own) for one, own in zip(value, given))
    found = [made(one, given[0] if given else typing.Any) for one in value]
    return set(found) if kind in SETS else found if kind in LISTS and kind is not collections.deque else kind(found)


def mapping(value, given):
    if not isinstance(value, dict):
        raise Unfit
    key_kind, value_kind = given if len(given) == 2 else (typing.Any, typing.Any)
    return {key(one, key_kind): made(own, value_kind) for one, own in value.items()}


def key(text, kind):
    """Keys of objects are texts, also where they are numbers."""
    if kind in (int, float):
        return of_text(text, kind)
    return made(text, kind)


def plain(value, kind):
    if kind in TEXTS:
        return of_text(value, TEXTS[kind])
    if not isinstance(kind, type):
        raise Unfit
    if kind is datetime.timedelta and type(value) in (int, float):
        return datetime.timedelta(seconds=value)
    if issubclass(kind, enum.Enum):
        found = [one for one in kind if one.value == value and type(one.value) is type(value)]
        if not found:
            raise Unfit
        return found[0]
    for own, allowed in ((bool, (bool,)), (int, (int,)), (float, (int, float)), (str, (str,))):
        if issubclass(kind, own):
            if type(value) not in allowed:
                raise Unfit
            return value if kind is own else kind(value)
    if not isinstance(value, dict) or kind.__module__ == "builtins":
        raise Unfit
    if typing.is_typeddict(kind):
        hints = hints_of(kind)
        return {name: made(own, hints.get(name, typing.Any)) for name, own in value.items()}
    return called(kind, value)


def hints_of(subject):
    try:
        hints = typing.get_type_hints(subject)
        if isinstance(subject, type) and not typing.is_typeddict(subject) and inspect.isfunction(subject.__init__):
            hints = {**hints, **typing.get_type_hints(subject.__init__)}
        return hints
    except Exception:
        raise Unfit from None


def called(subject, given):
    hints, left, positional, named, has_gap = hints_of(subject), dict(given), [], {}, False
    for name, one in inspect.signature(subject).parameters.items():
        if name not in left:
            has_gap = has_gap or one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            continue
        kind, value = hints.get(name, typing.Any), left.pop(name)
        if one.kind is one.VAR_POSITIONAL:
            found = [made(own, kind) for own in value]
            if has_gap and found:
                raise Unfit
            positional += found
        elif one.kind is one.VAR_KEYWORD:
            named.update({own: made(inner, kind) for own, inner in value.items()})
        elif one.kind is one.KEYWORD_ONLY or has_gap:
            named[name] = made(value, kind)
        else:
            positional.append(made(value, kind))
    if left:
        raise Unfit
    return subject(*positional, **named)


def tried(subject, given):
    value = made(given, subject) if typing.is_typeddict(subject) else called(subject, given)
    if inspect.iscoroutine(value):
        asyncio.run(value)
    elif inspect.isgenerator(value):
        collections.deque(itertools.islice(value, MOST_ITEMS), maxlen=0)


def definition(line, path):
    """Nothing for a method that needs an object, which no data describes."""
    scope = {}
    exec(line, scope)
    first, *rest = path.split(".")
    found = scope[first]
    for name in rest:
        if isinstance(found, type) and inspect.isfunction(inspect.getattr_static(found, name)):
            return None
        found = getattr(found, name)
    return found


def main(report, line, path, cases):
    sys.path[:0] = [os.getcwd(), os.path.abspath("src")]
    subject = definition(line, path)
    if not callable(subject):
        return
    with open(report, "w", encoding="utf-8") as out:
        for at, given in enumerate(json.loads(cases)):
            found = {"case": at}
            try:
                tried(subject, given)
            except (Unfit, OSError):
                continue
            except (Exception, SystemExit) as error:
                found["raises"] = f"{type(error).__name__}: {error}"[:MOST_LENGTH]
            out.write(json.dumps(found) + "\n")
            out.flush()


main(*sys.argv[1:])
