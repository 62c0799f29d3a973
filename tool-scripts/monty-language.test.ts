import { Monty, MontyComplete, MontyError, MontyNameLookup } from '@pydantic/monty'
import { describe, expect, it } from 'vitest'
import { plainValue } from './plain-value.ts'

/**
 * What Monty runs, construct by construct: the section "What runs" of docs/guide/tool-scripts.md and the rules of both
 * profiles say no more than stands here. A new version of Monty that changes a row changes them.
 */
const limits = { maxMemory: 16e6, maxDurationSecs: 0.5, maxRecursionDepth: 200 }

/** The last expression as JSON, or the error: its type and the start of its message. */
function outcome(code: string): string {
  try {
    let progress = new Monty(code).start({ limits, printCallback: () => undefined })
    while (!(progress instanceof MontyComplete)) {
      if (progress instanceof MontyNameLookup) progress = progress.resume()
      else progress = progress.resume({ exception: { type: 'NameError', message: progress.functionName } })
    }
    return JSON.stringify(plainValue(progress.output, 1_000_000))
  } catch (error) {
    if (!(error instanceof MontyError)) throw error
    return `${error.exception.typeName}: ${error.exception.message}`
  }
}

const runs: [code: string, result: string][] = [
  [
    'try:\n  raise PermissionError("a")\nexcept FileNotFoundError:\n  r = 1\nexcept OSError as e:\n  r = str(e)\nr',
    '"a"',
  ],
  ['try:\n  raise ModuleNotFoundError("a")\nexcept ImportError:\n  r = 1\nr', '1'],
  ['(lambda a, b=2: a + b)(1)', '3'],
  ['x = 1\ndef f():\n  global x\n  x = 2\nf()\nx', '2'],
  ['def f():\n  y = 1\n  def g():\n    nonlocal y\n    y = 2\n  g()\n  return y\nf()', '2'],
  ['(y := 3) + y', '6'],
  ['[x * 2 for x in range(4) if x]', '[2,4,6]'],
  ['{k: len(k) for k in ["a", "bb"]}', '{"a":1,"bb":2}'],
  ['sum(x for x in [1, 2])', '3'],
  ['sorted(["bb", "a"], key=lambda s: len(s), reverse=True)', '["bb","a"]'],
  ['f"{1:>5}|{2.5:.2f}|{3:05d}|{255:x}|{0.5:.1%}|{\'ab\':^6}"', '"    1|2.50|00003|ff|50.0%|  ab  "'],
  ['x = 1\nf"{x=}"', '"x=1"'],
  ['["a,b".split(","), "x".upper(), " a ".strip(), "a\\nb".splitlines()]', '[["a","b"],"X","a",["a","b"]]'],
  ['["abc".removeprefix("a"), "a-b".rpartition("-"), "1".zfill(3)]', '["bc",["a","-","b"],"001"]'],
  ['[1, 2, 3, 4][::-2]', '[4,2]'],
  ['a, *b, c = [1, 2, 3, 4]\nb', '[2,3]'],
  ['{**{"a": 1}, "b": 2}', '{"a":1,"b":2}'],
  [
    'try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  r = str(e)\nelse:\n  r = ""\nfinally:\n  q = 1\n[r, q]',
    '["division by zero",1]',
  ],
  ['try:\n  raise ValueError("a") from KeyError("b")\nexcept (KeyError, ValueError) as e:\n  r = str(e)\nr', '"a"'],
  ['i = 0\nwhile i < 2:\n  i += 1\nelse:\n  i = 9\ni', '9'],
  ['async def f():\n  return 1\nawait f()', '1'],
  ['import asyncio\nasync def f(x):\n  return x\nawait asyncio.gather(f(1), f(2))', '[1,2]'],
  // A decorator is read and ignored, hence the rule against it.
  ['def twice(f):\n  return lambda x: f(f(x))\n@twice\ndef add(x):\n  return x + 1\nadd(1)', '2'],
  ['def f(a, /, b, *args, c=4, **more):\n  return [a, b, args, c, more]\nf(1, 2, 3, d=5)', '[1,2,[3],4,{"d":5}]'],
  ['[isinstance(1, (int, str)), type(1) is int]', '[true,true]'],
  ['[{1, 2} & {2}, {1} | {2}, {1, 2} - {1}]', '[[2],[1,2],[2]]'],
  [
    'd = {"a": 1}\nd.setdefault("b", 2)\nd.update({"c": 3})\n[d.pop("a"), d.get("z"), list(d.items())]',
    '[1,null,[["b",2],["c",3]]]',
  ],
  ['import json\njson.loads(json.dumps({"a": [1, None, True]}, indent=2))', '{"a":[1,null,true]}'],
  ['import re\n[re.sub("a+", "x", "baab"), re.findall(r"\\d", "a1"), re.search("b", "ab").start()]', '["bxb",["1"],1]'],
  ['import math\n[math.sqrt(4), math.ceil(1.2), math.gcd(4, 6)]', '[2,2,2]'],
  [
    'from datetime import datetime, timedelta\n(datetime(2024, 1, 1) + timedelta(days=1)).isoformat()',
    '"2024-01-02T00:00:00"',
  ],
  ['from pathlib import Path\n[str(Path("a") / "b"), Path("a/b.txt").suffix]', '["a/b",".txt"]'],
  ['import sys\nsys.platform', '"monty"'],
  ['import json as j\nfrom re import sub as s\ns("a", "b", j.dumps("a"))', '"\\"b\\""'],
  ['import typing\nx: typing.Optional[int] = 1\nx', '1'],
  ['def f(x: Unknown) -> Unknown:\n  return x\nf(1)', '1'],
  ['2 ** 100', '"1267650600228229401496703205376"'],
  ['b"ab".hex() + "é".encode("utf-8").decode()', '"6162é"'],
  [
    '[list(zip([1], [2])), list(enumerate(["a"], 1)), max([1, 2], key=lambda v: -v), round(2.5)]',
    '[[[1,2]],[[1,"a"]],1,2]',
  ],
  ['print("a", 1, sep="-", end="")', 'null'],
  ['größe = 1\ngröße', '1'],
  ['if True:\n  1', 'null'],
]

const fails: [code: string, error: string][] = [
  ['class A:\n  pass', 'NotImplementedError: The monty syntax parser does not yet support class'],
  ['match 1:\n  case 1: pass', 'NotImplementedError: The monty syntax parser does not yet support pattern'],
  ['def f():\n  yield 1', 'NotImplementedError: The monty syntax parser does not yet support yield'],
  ['x = [1]\ndel x[0]', "NotImplementedError: The monty syntax parser does not yet support the 'del'"],
  ['async for x in y:\n  pass', 'NotImplementedError: The monty syntax parser does not yet support async for'],
  [
    'try:\n  pass\nexcept* ValueError:\n  pass',
    'NotImplementedError: The monty syntax parser does not yet support exception',
  ],
  ['type X = int', 'NotImplementedError: The monty syntax parser does not yet support type aliases'],
  ['t"{1}"', 'NotImplementedError: The monty syntax parser does not yet support template'],
  ['1j', 'NotImplementedError: The monty syntax parser does not yet support complex'],
  ['1 @ 2', 'NotImplementedError: matrix multiplication'],
  ['from math import *', 'NotImplementedError: Wildcard imports'],
  ['f"{1000:,}"', "SyntaxError: Invalid format specifier ','"],
  ['X = list[int]', "TypeError: 'type' object is not subscriptable"],
  ['isinstance(1, int | str)', 'TypeError: unsupported operand'],
  ['with open("a") as f:\n  pass', 'PermissionError: Permission denied'],
  ['"%s" % 1', "TypeError: unsupported operand type(s) for %: 'str'"],
  ['"{}".format(1)', "AttributeError: 'str' object has no attribute 'format'"],
  ['{"a": 1} | {"b": 2}', 'TypeError: unsupported operand'],
  ['x = [1, 2]\nx[0:1] = [9]', 'TypeError: list indices'],
  ['True + 1', 'TypeError: unsupported operand'],
  ['int("ff", 16)', 'TypeError: int expected at most 1 argument'],
  ['import re\nre.sub("a", lambda m: "b", "a")', 'TypeError: callable replacement is not yet supported'],
  ['raise ValueError("a", 1)', 'RuntimeError: Internal error in monty'],
  ['next(x for x in [1])', "TypeError: 'list' object is not an iterator"],
  ['getattr("a", "upper")', "AttributeError: 'str' object has no attribute 'upper'"],
  ['import random', "ModuleNotFoundError: No module named 'random'"],
  ['import time', "ModuleNotFoundError: No module named 'time'"],
  ['import collections', "ModuleNotFoundError: No module named 'collections'"],
  ['import itertools', "ModuleNotFoundError: No module named 'itertools'"],
  ['import dataclasses', "ModuleNotFoundError: No module named 'dataclasses'"],
  ['from typing import TypedDict', 'ImportError: cannot import name'],
  ['import os\nos.environ', "RuntimeError: 'os.environ' is not supported"],
  ['import os\nos.listdir(".")', "AttributeError: module 'os' has no attribute 'listdir'"],
  ['from pathlib import Path\nPath("/etc/passwd").exists()', 'PermissionError: Permission denied'],
  ['open("a")', 'PermissionError: Permission denied'],
  ['eval("1")', 'NameError: eval'],
  ['__import__("os")', 'NameError: __import__'],
  ['().__class__', "AttributeError: 'tuple' object has no attribute '__class__'"],
]

/** What differs between two runs in other languages. A suspended script is run again and must do the same again. */
const sameAgain: [code: string, result: string][] = [
  [
    'from datetime import datetime\ndatetime.now()',
    "RuntimeError: 'datetime.now' is not supported in this environment",
  ],
  ['from datetime import date\ndate.today()', "RuntimeError: 'date.today' is not supported in this environment"],
  ['hash("a")', '"8186225505942432243"'],
  ['id([])', '"1152921504606846977"'],
  ['def f(): pass\nrepr(f)', '"<function \'f\' at 0x100000000000000>"'],
  ['list({"zz", "b", "a", "c"})', '["zz","b","a","c"]'],
]

describe('Monty', () => {
  it.each(runs)('runs %j', (code, result) => {
    expect(outcome(code)).toBe(result)
  })

  it.each(fails)('does not run %j', (code, error) => {
    expect(outcome(code)).toContain(error)
  })

  it.each(sameAgain)('answers %j as it did before', (code, result) => {
    expect(outcome(code)).toBe(result)
  })

  it.each(['TimeoutError', 'BaseException'])('does not let a script catch its time limit as %s', (type) => {
    expect(outcome(`try:\n  while True:\n    pass\nexcept ${type}:\n  x = 1\n1`)).toContain('time limit exceeded')
  })

  it('does not let a script catch its memory limit, but that of its recursion, which is always as deep', () => {
    expect(outcome('try:\n  x = "a" * 20000000\nexcept MemoryError:\n  pass\n1')).toContain('memory limit exceeded')
    const count = 'n = 0\ndef f():\n  global n\n  n += 1\n  f()\ntry:\n  f()\nexcept RecursionError:\n  pass\nn'
    expect(outcome(count)).toBe(outcome(count))
    expect(Number(outcome(count))).toBeGreaterThan(100)
  })
})
