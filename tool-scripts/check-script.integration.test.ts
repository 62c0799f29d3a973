import { afterAll, describe, expect, it } from 'vitest'
import { checkScript as checkUntyped, type ScriptCheckOptions } from './check-script.ts'
import { readKnownExternals, readSignatures } from './external-signatures.ts'
import { openTypeChecker } from './type-checker.ts'

const head = 'from grail import Input, external\n'
const reading = '@external\nasync def read_file(path: str) -> str: ...\n'
const known = await readSignatures('@external\nasync def read_file(path: str, limit: int = 1) -> str: ...\n')

const typeChecker = openTypeChecker()
afterAll(() => typeChecker.close())
const checkScript = (source: string, path: string, options: ScriptCheckOptions = {}) =>
  checkUntyped(source, path, { typeChecker, ...options })

const submitting =
  '@external\nasync def submit_result(status: str, summary: str) -> dict[str, Any]: ...\nawait submit_result("success", "Done.")'

/** `at` is the code and the place of one fault that the bad script has. */
type Rule = { at: string; good: string; bad: string; path?: string; options?: ScriptCheckOptions }

const host = { knownExternals: known }
const monty = { profile: 'monty' } as const
const rules: Rule[] = [
  { at: 'E000 2:5', good: 'x = (1)\nx', bad: 'y = 1\nx = (1\n' },
  { at: 'E000 2:7', good: 'x = 1\nif x:\n  x = 2\nx', bad: 'x = 1\nif x: ]\nx' },
  { at: 'E000 1:7', good: 'x = 1\nx', bad: 'print "a"\nx = 1\nx' },
  { at: 'E000 2:3', good: 'x = 1\ny = 2\ny', bad: 'x = 1\n  y = 2\nx' },
  { at: 'E000 1:1', good: 'for x in [1]:\n  y = x\ny', bad: 'async for x in [1]:\n  y = x\ny' },
  { at: 'E000 1:1', good: 'X = 1\nX', bad: 'type X = int\nx = 1\nx' },
  {
    at: 'E000 3:1',
    good: 'try:\n  x = 1\nexcept ValueError:\n  x = 2\nx',
    bad: 'try:\n  x = 1\nexcept* ValueError:\n  x = 2\nx',
  },
  {
    at: 'E000 3:1',
    good: 'def d(f: int) -> int:\n  return f\nd(1)',
    bad: 'def d(f):\n  return f\n@d\ndef g() -> int:\n  return 1\ng()',
  },
  { at: 'E000 1:5', good: 'x = 1 * 2\nx', bad: 'x = 1 @ 2\nx' },
  { at: 'E000 1:5', good: 'x = 1\nx', bad: 'x = 1j\nx' },
  { at: 'E000 1:5', good: 'x = f"{1}"\nx', bad: 'x = t"{1}"\nx' },
  { at: 'E000 1:10', good: 'x = f"{1:>5}"\nx', bad: 'x = f"{1:,}"\nx' },
  { at: 'E001 1:1', good: 'x = {"a": 1}\nx', bad: 'class A:\n  pass\n' },
  { at: 'E001 2:3', good: 'x = 1\nx', bad: 'if True:\n  class A:\n    pass\nx = 1\nx', options: monty },
  { at: 'E002 2:3', good: 'def f() -> int:\n  return 1\nf()', bad: 'def f():\n  yield 1\nf()' },
  { at: 'E002 2:3', good: 'x = 1\nx', bad: 'def f(x):\n  yield from x\nf([])' },
  { at: 'E003 2:1', good: 'x = 1\nx', bad: 'x = 1\nwith x:\n  pass' },
  { at: 'E003 2:3', good: 'x = 1\nx', bad: 'async def f(x):\n  async with x:\n    pass\nawait f(1)' },
  { at: 'E004 2:1', good: 'x = 1\nx', bad: 'x = 1\nmatch x:\n  case 1:\n    pass' },
  { at: 'E005 1:8', good: 'from typing import Any\nx: Any = 1\nx', bad: 'import os\nx = 1\nx' },
  { at: 'E005 1:16', good: 'import typing\nx: typing.Any = 1\nx', bad: 'import typing, os as o\nx = 1\nx' },
  { at: 'E005 1:1', good: 'from __future__ import annotations\nx = 1\nx', bad: 'from os import path\nx = 1\nx' },
  { at: 'E005 1:1', good: 'x = 1\nx', bad: 'from . import tools\nx = 1\nx' },
  { at: 'E005 1:19', good: `${head}x = 1\nx`, bad: 'from grail import Input as I\nx = 1\nx' },
  { at: 'E005 1:8', good: 'import grail\nx: int = grail.Input("x")\nx', bad: 'import grail as g\nx = 1\nx' },
  { at: 'E005 2:10', good: 'import grail\nx = 1\nx', bad: 'if True:\n  import grail\nx = 1\nx' },
  { at: 'E005 1:1', good: 'import typing\nx = 1\nx', bad: 'from typing import *\nx = 1\nx' },
  { at: 'E005 1:20', good: 'from typing import Any\nx = 1\nx', bad: 'from typing import TypedDict\nx = 1\nx' },
  { at: 'E005 1:8', good: 'import json\nx = json.dumps(1)\nx', bad: 'import random\nx = 1\nx', options: monty },
  {
    at: 'E006 3:7',
    good: `${head}@external\ndef f(a: int) -> int: ...\nf(1)`,
    bad: `${head}@external\ndef f(a) -> int: ...\nf(1)`,
  },
  { at: 'E006 3:1', good: `${head}@external\ndef f() -> int: ...\nf()`, bad: `${head}@external\ndef f(): ...\nf()` },
  {
    at: 'E006 3:7',
    good: `${head}@external\ndef f(a: int, /) -> int: ...\nf(1)`,
    bad: `${head}@external\ndef f(*a: int) -> int: ...\nf(1)`,
  },
  {
    at: 'E006 3:7',
    good: `${head}@external\ndef f(*, a: int) -> int: ...\nf(a=1)`,
    bad: `${head}@external\ndef f(**a: int) -> int: ...\nf(a=1)`,
  },
  {
    at: 'E006 3:7',
    good: `${head}@external\ndef f(a: int = 1) -> int: ...\nf()`,
    bad: `${head}@external\ndef f(a: int = "1") -> int: ...\nf()`,
  },
  {
    at: 'E006 2:1',
    good: `${head}@external\ndef f() -> int: ...\nf()`,
    bad: `${head}@external()\ndef f() -> int: ...\nf()`,
  },
  {
    at: 'E006 3:3',
    good: `import grail\n@grail.external\ndef f() -> int: ...\nf()`,
    bad: `${head}if True:\n  @external\n  def f() -> int: ...\nf()`,
  },
  {
    at: 'E007 4:3',
    good: `${head}@external\ndef f() -> int:\n  """Doc."""\n  ...\nf()`,
    bad: `${head}@external\ndef f() -> int:\n  return 1\nf()`,
  },
  { at: 'E008 2:1', good: `${head}x: int = Input("x")\nx`, bad: `${head}x = Input("x")\nx` },
  { at: 'E008 2:16', good: `${head}x: int = Input("x")\nx`, bad: `${head}x: int = Input("y")\nx` },
  {
    at: 'E008 2:10',
    good: `${head}x: int = Input("x", default=1)\nx`,
    bad: `${head}x: int = Input("x", default="1")\nx`,
  },
  { at: 'E008 3:7', good: `${head}x: int = Input("x")\nx`, bad: `${head}def f():\n  x = Input("x")\n  return x\nf()` },
  { at: 'E009 3:3', good: 'x = 1\nx', bad: 'x = 1\ndef f():\n  global x\nf()' },
  { at: 'E010 4:5', good: 'x = 1\nx', bad: 'def f():\n  y = 1\n  def g():\n    nonlocal y\n  g()\nf()' },
  { at: 'E011 2:1', good: 'x = [1]\nx', bad: 'x = [1]\ndel x[0]\nx' },
  { at: 'E012 1:5', good: 'def f(a: int) -> int:\n  return a\nf(1)', bad: 'f = lambda a: a\nf(1)' },
  {
    at: 'E013 3:1',
    good: `${head}${reading}await read_file("a")`,
    bad: `${head}@external\nasync def read_file(name: str) -> str: ...\nawait read_file("a")`,
    options: host,
  },
  {
    at: 'E013 3:1',
    good: `${head}${reading}await read_file("a")`,
    bad: `${head}@external\nasync def launch() -> str: ...\nawait launch()`,
    options: host,
  },
  { at: 'E100 4:1', good: `${head}x: int = Input("x")\nx + 1`, bad: `${head}x: int = Input("x")\ny = 1\nx + "a"` },
  { at: 'E100 1:5', good: 'x = f"{1}"\nx', bad: 'x = "{}".format(1)\nx' },
  { at: 'E100 1:5', good: 'x = 5 % 2\nx', bad: 'x = "%s" % 1\nx' },
  {
    at: 'E100 3:8',
    good: 'try:\n  x = 1\nexcept FileNotFoundError as fault:\n  x = len(str(fault))\nx',
    bad: 'try:\n  x = 1\nexcept NoSuchError:\n  x = 2\nx',
  },
  { at: 'W001 2:1', good: 'x = {"a": 1}\nx', bad: 'x = 1\n{"a": x}' },
  { at: 'W001 1:1', good: 'x = [1]\nx', bad: '[1, 2]' },
  {
    at: 'W002 3:1',
    good: `${head}@external\ndef f() -> int: ...\nf()`,
    bad: `${head}@external\ndef f() -> int: ...\nx = 1\nx`,
  },
  { at: 'W003 2:1', good: `${head}x: int = Input("x")\nx`, bad: `${head}x: int = Input("x")\ny = 1\ny` },
  {
    at: 'W003 2:1',
    good: `${head}x: int = Input("x")\ndef f(a: int) -> int:\n  return a\nf(a=x)`,
    bad: `${head}a: int = Input("a")\ndef f(a: int) -> int:\n  return 1\nf(a=1)`,
  },
  { at: 'W004 201:1', good: `${'x = 1\n'.repeat(199)}x\n`, bad: `${'x = 1\n'.repeat(200)}x\n` },
  {
    at: 'W005 4:1',
    good: `${head}${reading}async def go() -> str:\n  return await read_file("a")\nawait go()`,
    bad: `${head}${reading}async def go() -> str:\n  return await read_file("a")\nx = 1\nx`,
  },
  {
    at: 'W005 1:1',
    good: 'def f() -> int:\n  return g()\ndef g() -> int:\n  return 1\nf()',
    bad: 'def f() -> int:\n  return g()\ndef g() -> int:\n  return f()\nx = 1\nx',
  },
  {
    at: 'W006 1:1',
    good: `from typing import Any\n${head}${submitting}`,
    bad: 'x = 1\nx',
    path: 'tools/submit_result.pym',
    options: { knownExternals: await readKnownExternals() },
  },
  {
    at: 'E013 4:1',
    good: `from typing import Any\n${head}${submitting}`,
    bad: `from typing import Any\n${head}@external\nasync def submit_result(text: str) -> dict[str, Any]: ...\nawait submit_result("a")`,
    path: 'tools/submit_result.pym',
    options: { knownExternals: await readKnownExternals() },
  },
  { at: 'W007 1:1', good: 'x = 1\nx', bad: 'x = 1' },
  { at: 'W007 2:1', good: 'x = 1\nx', bad: 'x = 1\nif x:\n  x\n' },
  { at: 'W007 1:1', good: 'x = f"{1}"\nx', bad: '"""Only a docstring."""' },
  { at: 'W007 3:1', good: 'def f() -> int:\n  return 1\nf()', bad: 'def f() -> int:\n  return 1\nf' },
  { at: 'W007 1:1', good: 'x = None\nx', bad: '' },
]

describe('checkScript', () => {
  it.each(rules)('$at: passes the good script and points at the place in the bad one: $bad', async (rule) => {
    const path = rule.path ?? 'any.pym'
    const good = await checkScript(rule.good, path, rule.options)
    expect(good.faults).toEqual([])
    const bad = await checkScript(rule.bad, path, rule.options)
    expect(bad.faults.map(({ code, line, column }) => `${code} ${line}:${column}`)).toContain(rule.at)
    expect(bad.faults.every(({ severity }) => severity === 'warning')).toBe(rule.at.startsWith('W'))
  })

  it('says that a call at the end is not awaited', async () => {
    const { faults } = await checkScript('async def f() -> int:\n  return 1\nf()', 'bad.pym')
    expect(faults.map(({ code, line }) => `${code} ${line}`)).toEqual(['W007 3', 'E100 3'])
  })

  it.each([
    'f = lambda: 1\nf()',
    'x = 1\ndef f():\n  global x\n  x = 2\nf()\nx',
    'import json as j\nfrom re import sub as s\ns("a", "b", j.dumps("a"))',
    'def f() -> int:\n  y = 1\n  def g() -> None:\n    nonlocal y\n    y = 2\n  g()\n  return y\nf()',
  ])('lets the profile monty have %j, and the default one not', async (source) => {
    expect((await checkScript(source, 'a.pym', monty)).faults).toEqual([])
    const { faults } = await checkScript(source, 'a.pym')
    expect(faults.some(({ severity }) => severity === 'error')).toBe(true)
  })

  it('offers submit_result to no other script', async () => {
    const source = `from typing import Any\n${head}${submitting}`
    const { faults } = await checkScript(source, 'other.pym', { knownExternals: await readKnownExternals() })
    expect(faults).toMatchObject([{ code: 'E013', message: expect.stringContaining('only to a submit_result.pym') }])
  })

  it('reports every fault of a script in one pass, in the order of its lines', async () => {
    const { faults } = await checkScript(
      'import os\nclass A:\n  pass\nf = lambda: 1\nx = "a" + 1\nasync for y in x:\n  pass\n[1]\n',
      'bad.pym',
    )
    expect(faults.map(({ code, line }) => `${code} ${line}`)).toEqual([
      'E005 1',
      'E001 2',
      'E012 4',
      'E100 5',
      'E000 6',
      'W001 8',
    ])
  })

  it('reports what stands before a syntax error', async () => {
    const { faults } = await checkScript('import os\nclass A:\n  pass\nx = (1,\n', 'bad.pym')
    expect(faults.map(({ code, line }) => `${code} ${line}`)).toEqual(['E005 1', 'E001 2', 'E000 4'])
  })
})
