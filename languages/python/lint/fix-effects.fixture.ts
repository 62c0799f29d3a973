/** A program whose fix by one rule is judged: `kept`, it must not be made; `made`, it must. `say` prints what it returns. */
export type FixEffect = {
  rule: string
  what: string
  text: string
  fix: 'kept' | 'made'
  /** `py311` unless something else is said; `null`: the repository does not say it. */
  target?: string | null
  /** The repository's own modules by their names. */
  modules?: Record<string, string>
}

type Row = readonly [rule: string, what: string, text: string, more?: Pick<FixEffect, 'target' | 'modules'>]

const rowsOf = (fix: FixEffect['fix'], rows: readonly Row[]): FixEffect[] =>
  rows.map(([rule, what, text, more]) => ({ rule, what, text, fix, ...more }))

const row = 'class Row:\n    ff = H = "plain"\n    size = 1\n\n\nrow = Row()\n'
const popped =
  'class Bag:\n    items = [1, 2]\n\n    @property\n    def last(self):\n        return self.items.pop()\n\n\nbag = Bag()\n'
const imported = { a: 'print("a")\nx = "x of a"\n', b: 'print("b")\nx = "x of b"\n' }

const identifiers: readonly Row[] = [
  [
    'B009',
    'a ligature, which is another attribute as code',
    `${row}row.__dict__["\ufb00"] = 2\nprint(getattr(row, "\ufb00"))\n`,
  ],
  ['B009', 'an escape for a ligature', `${row}row.__dict__["\ufb00"] = 2\nprint(getattr(row, "\\ufb00"))\n`],
  ['B010', 'a letter that is another one as code', `${row}setattr(row, "\u210c", "new")\nprint(row.H)\n`],
  [
    'PIE804',
    'the name of an argument',
    'def names(**given):\n    return list(given)\n\n\nprint(names(**{"\u210c": 1})[0].isascii())\n',
  ],
  [
    'PIE804',
    'an argument that nobody may name',
    'def names(**given):\n    return list(given)\n\n\nprint(names(**{"__debug__": 1}))\n',
  ],
  ['UP032', 'an attribute in a format', `${row}row.__dict__["\ufb00"] = 2\nprint("{r.\ufb00}".format(r=row))\n`],
  [
    'UP032',
    'a private attribute in a format, which the class has under another name',
    'class A:\n    def __getattr__(self, name):\n        return name\n\n    def text(self):\n        return "{s.__x}".format(s=self)\n\n\nprint(A().text())\n',
  ],
]

const evaluations: readonly Row[] = [
  ['UP032', 'arguments in another order', 'print("{1} {0}".format(say(1), say(2)))\n'],
  ['UP032', 'named arguments in another order', 'print("{b} {a}".format(a=say(1), b=say(2)))\n'],
  ['UP032', 'an argument that is not used', 'print("{}".format(1, say(2)))\n'],
  ['UP032', 'a call that changes what is formatted before it', 'x = [1, 2]\nprint("{} {}".format(x, x.pop()))\n'],
  [
    'UP032',
    'an item that is made when it is asked for',
    'import collections\nx = collections.defaultdict(int)\nprint("{} {}".format(x, x[1]))\n',
  ],
  [
    'UP032',
    'a property that changes what is formatted before it',
    `${popped}x = bag.items\nprint("{} {}".format(x, bag.last))\n`,
  ],
  ['UP032', 'an attribute that is used twice', `${popped}print("{0} {0}".format(bag.last))\n`],
  ['UP032', 'a name that an argument binds', 'x = 1\nprint("{1} {0}".format(x, (x := 2)))\n'],
  ['B010', 'a value that is asked for before the object', `${row}setattr(say(row), "size", say(2))\n`],
  [
    'B010',
    'a value that binds the object',
    `${row}old = row\nsetattr(row, "size", (row := Row()) and 5)\nprint(old.size)\n`,
  ],
  [
    'B010',
    'an item of an object, and an item of another',
    `${popped}setattr(bag.last and bag, "size", bag.items[-1])\nprint(bag.size)\n`,
  ],
  [
    'C420',
    'a value that is read for each key',
    'def keys():\n    global v\n    v = 2\n    yield 1\n\n\nv = 1\nprint({k: v for k in keys()})\n',
  ],
  ['C420', 'keys that are unpacked', 'print({(a, b): None for a, b in ["xy"]})\n'],
  ['C420', 'an attribute that is read for each key', `${popped}print({k: bag.last for k in "ab"})\n`],
  ['FURB105', 'a separator that is asked for', 'print("", sep=say(" "))\n'],
  ['TC006', 'a type that a call makes', 'from typing import cast\nprint(cast(say(int), 1))\n'],
  [
    'TC006',
    'a type of its own, which may do something in brackets',
    'from typing import cast\n\n\nclass Box:\n    def __class_getitem__(cls, item):\n        print(item)\n\n\nprint(cast(Box[int], 1))\n',
  ],
  [
    'PIE807',
    'a function whose parameters are looked at',
    'import inspect\n\nf = lambda: []\nprint(inspect.signature(f))\n',
  ],
  ['PIE808', 'a range whose end is unpacked', 'print(range(0, *[5, 7]))\n'],
  [
    'PIE808',
    'a function that replaces one of Python’s',
    'from a import *\nprint(range(0, 5))\n',
    { modules: { a: 'def range(*given):\n    return given\n' } },
  ],
  [
    'RUF010',
    'a class that replaces one of Python’s',
    'from a import *\nprint(f"{str(1)}")\n',
    { modules: { a: 'def str(x):\n    return "other"\n' } },
  ],
  [
    'UP024',
    'an exception that only Windows has',
    'try:\n    try:\n        1 / 0\n    except WindowsError:\n        pass\nexcept NameError as error:\n    print(type(error))\n',
  ],
  [
    'UP041',
    'two exceptions that were not always one',
    'import socket\n\ntry:\n    raise socket.timeout\nexcept socket.timeout:\n    print(1)\n',
    { target: null },
  ],
]

const imports: readonly Row[] = [
  ['I001', 'modules of the repository', 'import b\nimport a\n\nprint(a.x, b.x)\n', { modules: imported }],
  [
    'I001',
    'two modules that have the same name',
    'from json import dumps as x\nfrom csv import writer as x\n\nprint(x.__module__)\n',
  ],
  [
    'I001',
    'two modules of which everything is imported',
    'from b import *\nfrom a import *\n\nprint(x)\n',
    { modules: imported },
  ],
  [
    'I001',
    'a module that is loaded for its effect',
    'import setup_paths\nimport numpy\n\nprint(numpy.found)\n',
    { modules: { setup_paths: 'import sys\nsys.found = 1\n', numpy: 'import sys\nfound = hasattr(sys, "found")\n' } },
  ],
  ['I001', 'modules of a package', 'from . import b\nfrom . import a\n'],
  [
    'PLR0402',
    'a name of a package that is not its module',
    'import shop.price as price\n\nprint(price)\n',
    { modules: { shop: 'price = 1\n', 'shop.price': '' } },
  ],
  [
    'F811',
    'an import that a function makes when it is called',
    'import a\nfrom a import x\n\n\ndef f():\n    from a import x\n    y = 1\n    return x, y\n\n\na.x = 2\nprint(f())\n',
    { modules: { a: 'x = 1\n' } },
  ],
  ['RUF022', 'a list whose order the file uses', '__all__ = ["b", "a"]\na = b = 1\nprint(__all__[0])\n'],
  ['RUF022', 'a list of modules, which are loaded in its order', '__all__ = ["b", "a"]\n'],
  [
    'UP035',
    'a class that is the base of another',
    'from typing import Iterator, TypeVar\n\nT = TypeVar("T")\n\n\nclass A(Iterator[T]):\n    pass\n\n\nprint(A.__mro__)\n',
  ],
  [
    'UP035',
    'a type of an annotation that is read',
    'from typing import Callable, Sequence\n\n\ndef f(x: Sequence[int]) -> None: ...\n\n\nprint(f.__annotations__)\n',
  ],
]

const future =
  'from __future__ import annotations\n\nimport dataclasses\nimport typing\nfrom typing import ClassVar\n\n\n'

const annotations: readonly Row[] = [
  [
    'UP037',
    'a field of a dataclass, which looks for ClassVar in the text',
    `${future}@dataclasses.dataclass\nclass A:\n    x: "ClassVar[int]" = 1\n\n\nprint([field.name for field in dataclasses.fields(A)])\n`,
  ],
  [
    'UP037',
    'a type that only a type checker imports, inside another',
    `${future}if typing.TYPE_CHECKING:\n    from people import Person\n\n\nclass Mapped:\n    def __class_getitem__(cls, item):\n        return item\n\n\nclass Letter:\n    sender: Mapped["Person"]\n\n\nprint(eval(Letter.__annotations__["sender"]))\n`,
  ],
  [
    'UP037',
    'a parameter whose annotation is read',
    `${future}def f(x: "int") -> None: ...\n\n\nprint(f.__annotations__)\n`,
  ],
  ['UP037', 'a variable of a module', `${future}x: "int" = 1\nprint(__annotations__)\n`],
  [
    'UP037',
    'an attribute of a class inside a function',
    `${future}def f():\n    class A:\n        x: "int" = 1\n    return A.__annotations__\n\n\nprint(f())\n`,
  ],
  [
    'UP037',
    'a parameter, where the target evaluates annotations late',
    'def f(x: "Person") -> None: ...\n',
    { target: 'py314' },
  ],
]

const halves: readonly Row[] = [
  [
    'F841',
    'an exception that has the name of a variable, which Python deletes behind the handler',
    'def f():\n    e = 5\n    try:\n        say(int("x"))\n    except ValueError as e:\n        pass\n    return e\n\n\nprint(f())\n',
  ],
  [
    'F841',
    'an exception beside a variable that stays',
    'def f():\n    try:\n        tokens = say(1)\n    except ValueError as e:\n        return 1\n    return 2\n\n\nprint(f())\n',
  ],
]

const safe: readonly Row[] = [
  ['B009', 'an ordinary name', `${row}print(getattr(row, "size"))\n`],
  ['B010', 'names', `${row}n = 2\nsetattr(row, "size", n)\nprint(row.size)\n`],
  [
    'B010',
    'an object that is asked for, and a constant',
    `${row}setattr(say(row).__class__, "size", {})\nprint(row.size)\n`,
  ],
  ['PIE804', 'ordinary arguments, in their order', 'print(dict(**{"a": say(1)}, b=say(2)))\n'],
  ['UP032', 'one call', 'print("{:>3}".format(say(1)))\n'],
  ['UP032', 'a call that comes first, and names', 'x = 1\nprint("{} {}{}".format(say(2), x, x))\n'],
  [
    'UP032',
    'names in another order, twice, and with their attributes',
    'x, y = 1, 2\nprint("{1.real} {0} {1.__class__.__name__} {{}}".format(x, y))\n',
  ],
  ['C420', 'a constant', 'print({k: None for k in say("ab")})\n'],
  ['FURB105', 'an empty text', 'print("", end="!")\n'],
  [
    'TC006',
    'a type in brackets',
    'import typing as t\nfrom typing import cast\n\nprint(cast(dict[str, t.Optional[int]], 1))\n',
  ],
  ['PIE807', 'a factory', 'import collections\n\nprint(collections.defaultdict(lambda: [])[1])\n'],
  ['PIE808', 'a range', 'print(range(0, say(5)))\n'],
  ['UP024', 'an alias', 'try:\n    raise IOError\nexcept IOError:\n    print(1)\n'],
  [
    'UP041',
    'an alias of the target',
    'import socket\n\ntry:\n    raise socket.timeout\nexcept socket.timeout:\n    print(1)\n',
  ],
  [
    'I001',
    'the standard library, and names of one module',
    'import os\nfrom a import y, x\nimport abc\n\nprint(abc, os, x, y)\n',
    { modules: { a: 'x = y = 1\nprint("a")\n' } },
  ],
  ['I001', 'modules of others', 'import zlib_ng\nimport attr\n\nprint(zlib_ng, attr)\n'],
  ['PLR0402', 'a module of the standard library', 'import os.path as path\n\nprint(path.sep)\n'],
  ['F811', 'an import that is there twice', 'import os\nimport os\n\nprint(os.sep)\n'],
  ['RUF022', 'a list of names', '__all__ = ["b", "a"]\na = b = 1\n'],
  [
    'UP035',
    'the same class in its own module',
    'def f():\n    from collections import Mapping\n\n    return Mapping\n',
  ],
  ['UP037', 'a variable of a function', 'def f():\n    x: "Person" = 1\n    return x\n\n\nprint(f())\n'],
  [
    'F841',
    'an exception, where another function has a variable that stays',
    'def f():\n    x = say(1)\n\n\ndef g():\n    try:\n        f()\n    except ValueError as e:\n        return 1\n    return 2\n\n\nprint(g())\n',
  ],
]

export const fixEffects: readonly FixEffect[] = [
  ...rowsOf('kept', [...identifiers, ...evaluations, ...imports, ...annotations, ...halves]),
  ...rowsOf('made', safe),
]
