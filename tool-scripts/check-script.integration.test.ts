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

type Options = ScriptCheckOptions & { path?: string }

const host = { knownExternals: known }
const monty = { profile: 'monty' } as const
const submit = { knownExternals: await readKnownExternals(), path: 'tools/submit_result.pym' }

const good: [source: string, options?: Options][] = [
  ['x = (1)\nx'],
  ['x = 1\nx'],
  ['for x in [1]:\n  y = x\ny'],
  ['try:\n  x = 1\nexcept ValueError:\n  x = 2\nx'],
  ['x = f"{1:>5}"\nx'],
  ['def f() -> int:\n  return 1\nf()'],
  ['from typing import Any\nx: Any = 1\nx'],
  ['from __future__ import annotations\nx = 1\nx'],
  ['import grail\nx: int = grail.Input("x")\nx'],
  ['from typing import Any\nx = 1\nx'],
  ['import json\nx = json.dumps(1)\nx', monty],
  [`${head}@external\ndef f(a: int) -> int: ...\nf(1)`],
  [`${head}@external\ndef f() -> int: ...\nf()`],
  [`${head}@external\ndef f(a: int, /) -> int: ...\nf(1)`],
  [`${head}@external\ndef f(*, a: int) -> int: ...\nf(a=1)`],
  [`${head}@external\ndef f(a: int = 1) -> int: ...\nf()`],
  [`import grail\n@grail.external\ndef f() -> int: ...\nf()`],
  [`${head}@external\ndef f() -> int:\n  """Doc."""\n  ...\nf()`],
  [`${head}x: int = Input("x")\nx`],
  [`${head}x: int = Input("x", default=1)\nx`],
  ['def f(a: int) -> int:\n  return a\nf(1)'],
  [`${head}${reading}await read_file("a")`, host],
  ['x = 5 % 2\nx'],
  ['try:\n  x = 1\nexcept FileNotFoundError as fault:\n  x = len(str(fault))\nx'],
  [`${head}x: int = Input("x")\ndef f(a: int) -> int:\n  return a\nf(a=x)`],
  [`${'x = 1\n'.repeat(199)}x\n`],
  [`${head}${reading}async def go() -> str:\n  return await read_file("a")\nawait go()`],
  ['def f() -> int:\n  return g()\ndef g() -> int:\n  return 1\nf()'],
  [`from typing import Any\n${head}${submitting}`, submit],
  ['x = None\nx'],
]

const bad: [at: string, source: string, options?: Options][] = [
  ['E000 2:5', 'y = 1\nx = (1\n'],
  ['E000 2:7', 'x = 1\nif x: ]\nx'],
  ['E000 1:1', 'async for x in [1]:\n  y = x\ny'],
  ['E000 1:1', 'type X = int\nx = 1\nx'],
  ['E000 3:1', 'try:\n  x = 1\nexcept* ValueError:\n  x = 2\nx'],
  ['E000 3:1', 'def d(f):\n  return f\n@d\ndef g() -> int:\n  return 1\ng()'],
  ['E000 1:5', 'x = 1 @ 2\nx'],
  ['E000 1:5', 'x = 1j\nx'],
  ['E000 1:5', 'x = t"{1}"\nx'],
  ['E000 1:10', 'x = f"{1:,}"\nx'],
  ['E001 1:1', 'class A:\n  pass\n'],
  ['E001 2:3', 'if True:\n  class A:\n    pass\nx = 1\nx', monty],
  ['E002 2:3', 'def f():\n  yield 1\nf()'],
  ['E003 2:1', 'x = 1\nwith x:\n  pass'],
  ['E004 2:1', 'x = 1\nmatch x:\n  case 1:\n    pass'],
  ['E005 1:8', 'import os\nx = 1\nx'],
  ['E005 1:16', 'import typing, os as o\nx = 1\nx'],
  ['E005 1:1', 'from os import path\nx = 1\nx'],
  ['E005 1:1', 'from . import tools\nx = 1\nx'],
  ['E005 1:19', 'from grail import Input as I\nx = 1\nx'],
  ['E005 1:8', 'import grail as g\nx = 1\nx'],
  ['E005 2:10', 'if True:\n  import grail\nx = 1\nx'],
  ['E005 1:1', 'from typing import *\nx = 1\nx'],
  ['E005 1:20', 'from typing import TypedDict\nx = 1\nx'],
  ['E005 1:8', 'import random\nx = 1\nx', monty],
  ['E006 3:7', `${head}@external\ndef f(a) -> int: ...\nf(1)`],
  ['E006 3:1', `${head}@external\ndef f(): ...\nf()`],
  ['E006 3:7', `${head}@external\ndef f(*a: int) -> int: ...\nf(1)`],
  ['E006 3:7', `${head}@external\ndef f(a: int = "1") -> int: ...\nf()`],
  ['E006 2:1', `${head}@external()\ndef f() -> int: ...\nf()`],
  ['E006 3:3', `${head}if True:\n  @external\n  def f() -> int: ...\nf()`],
  ['E007 4:3', `${head}@external\ndef f() -> int:\n  return 1\nf()`],
  ['E008 2:1', `${head}x = Input("x")\nx`],
  ['E008 2:16', `${head}x: int = Input("y")\nx`],
  ['E008 2:10', `${head}x: int = Input("x", default="1")\nx`],
  ['E008 3:7', `${head}def f():\n  x = Input("x")\n  return x\nf()`],
  ['E009 3:3', 'x = 1\ndef f():\n  global x\nf()'],
  ['E010 4:5', 'def f():\n  y = 1\n  def g():\n    nonlocal y\n  g()\nf()'],
  ['E011 2:1', 'x = [1]\ndel x[0]\nx'],
  ['E012 1:5', 'f = lambda a: a\nf(1)'],
  ['E013 3:1', `${head}@external\nasync def read_file(name: str) -> str: ...\nawait read_file("a")`, host],
  ['E013 3:1', `${head}@external\nasync def launch() -> str: ...\nawait launch()`, host],
  ['E100 4:1', `${head}x: int = Input("x")\ny = 1\nx + "a"`],
  ['E100 1:5', 'x = "{}".format(1)\nx'],
  ['E100 1:5', 'x = "%s" % 1\nx'],
  ['E100 3:8', 'try:\n  x = 1\nexcept NoSuchError:\n  x = 2\nx'],
  ['W001 2:1', 'x = 1\n{"a": x}'],
  ['W001 1:1', '[1, 2]'],
  ['W002 3:1', `${head}@external\ndef f() -> int: ...\nx = 1\nx`],
  ['W003 2:1', `${head}x: int = Input("x")\ny = 1\ny`],
  ['W003 2:1', `${head}a: int = Input("a")\ndef f(a: int) -> int:\n  return 1\nf(a=1)`],
  ['W004 201:1', `${'x = 1\n'.repeat(200)}x\n`],
  ['W005 4:1', `${head}${reading}async def go() -> str:\n  return await read_file("a")\nx = 1\nx`],
  ['W005 1:1', 'def f() -> int:\n  return g()\ndef g() -> int:\n  return f()\nx = 1\nx'],
  ['W006 1:1', 'x = 1\nx', submit],
  [
    'E013 4:1',
    `from typing import Any\n${head}@external\nasync def submit_result(text: str) -> dict[str, Any]: ...\nawait submit_result("a")`,
    submit,
  ],
  ['W007 1:1', 'x = 1'],
  ['W007 2:1', 'x = 1\nif x:\n  x\n'],
  ['W007 1:1', '"""Only a docstring."""'],
  ['W007 3:1', 'def f() -> int:\n  return 1\nf'],
  ['W007 1:1', ''],
]

describe('checkScript', () => {
  it.each(good)('passes %j', async (source, { path = 'any.pym', ...options } = {}) => {
    expect((await checkScript(source, path, options)).faults).toEqual([])
  })

  it.each(bad)('finds the fault %s in %j', async (at, source, { path = 'any.pym', ...options } = {}) => {
    const { faults } = await checkScript(source, path, options)
    expect(faults.map(({ code, line, column }) => `${code} ${line}:${column}`)).toContain(at)
    expect(faults.every(({ severity }) => severity === 'warning')).toBe(at.startsWith('W'))
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
    const { faults } = await checkScript(source, 'other.pym', submit)
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
})
