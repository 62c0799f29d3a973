import { describe, expect, it } from 'vitest'
import { checkScript, type ScriptCheckOptions } from './check-script.ts'
import { readSignatures } from './external-signature.ts'

const head = 'from grail import Input, external\n'
const known = await readSignatures('@external\nasync def read_file(path: str, limit: int = 1) -> str: ...\n')

type Rule = { code: string; good: string; bad: string; line: number; options?: ScriptCheckOptions }

const rules: Rule[] = [
  { code: 'E000', good: 'x = (1)\nx', bad: 'y = 1\nx = (1\n', line: 2 },
  { code: 'E001', good: 'x = 1\nx', bad: 'class A:\n  pass\n', line: 1 },
  { code: 'E002', good: 'def f() -> int:\n  return 1\nf()', bad: 'def f():\n  yield 1\nf()', line: 2 },
  { code: 'E002', good: 'x = 1\nx', bad: 'def f(x):\n  yield from x\nf([])', line: 2 },
  { code: 'E003', good: 'x = 1\nx', bad: 'x = 1\nwith x:\n  pass', line: 2 },
  { code: 'E003', good: 'x = 1\nx', bad: 'async def f(x):\n  async with x:\n    pass\nawait f(1)', line: 2 },
  { code: 'E004', good: 'x = 1\nx', bad: 'x = 1\nmatch x:\n  case 1:\n    pass', line: 2 },
  { code: 'E005', good: 'from typing import Any\nx: Any = 1\nx', bad: 'import os\nx = 1\nx', line: 1 },
  { code: 'E005', good: 'from __future__ import annotations\nx = 1\nx', bad: 'from os import path\nx = 1\nx', line: 1 },
  { code: 'E005', good: `${head}x = 1\nx`, bad: 'from grail import Input as I\nx = 1\nx', line: 1 },
  {
    code: 'E006',
    good: `${head}@external\ndef f(a: int) -> int: ...\nf(1)`,
    bad: `${head}@external\ndef f(a) -> int: ...\nf(1)`,
    line: 3,
  },
  {
    code: 'E006',
    good: `${head}@external\ndef f() -> int: ...\nf()`,
    bad: `${head}@external\ndef f(): ...\nf()`,
    line: 3,
  },
  {
    code: 'E007',
    good: `${head}@external\ndef f() -> int:\n  """Doc."""\n  ...\nf()`,
    bad: `${head}@external\ndef f() -> int:\n  return 1\nf()`,
    line: 4,
  },
  { code: 'E008', good: `${head}x: int = Input("x")\nx`, bad: `${head}x = Input("x")\nx`, line: 2 },
  { code: 'E008', good: `${head}x: int = Input("x")\nx`, bad: `${head}x: int = Input("y")\nx`, line: 2 },
  { code: 'E009', good: 'x = 1\nx', bad: 'x = 1\ndef f():\n  global x\nf()', line: 3 },
  { code: 'E010', good: 'x = 1\nx', bad: 'def f():\n  y = 1\n  def g():\n    nonlocal y\n  g()\nf()', line: 4 },
  { code: 'E011', good: 'x = 1\nx', bad: 'x = [1]\ndel x[0]\nx', line: 2 },
  { code: 'E012', good: 'def f(a: int) -> int:\n  return a\nf(1)', bad: 'f = lambda a: a\nf(1)', line: 1 },
  {
    code: 'E013',
    good: `${head}@external\nasync def read_file(path: str) -> str: ...\nawait read_file("a")`,
    bad: `${head}@external\nasync def read_file(name: str) -> str: ...\nawait read_file("a")`,
    line: 3,
    options: { knownExternals: known },
  },
  {
    code: 'E013',
    good: `${head}@external\nasync def read_file(path: str, limit: int) -> str: ...\nawait read_file("a", 1)`,
    bad: `${head}@external\nasync def launch() -> str: ...\nawait launch()`,
    line: 3,
    options: { knownExternals: known },
  },
  {
    code: 'E100',
    good: `${head}x: int = Input("x")\nx + 1`,
    bad: `${head}x: int = Input("x")\ny = 1\nx + "a"`,
    line: 4,
  },
  { code: 'W001', good: 'x = {"a": 1}\nx', bad: 'x = 1\n{"a": x}', line: 2 },
  { code: 'W001', good: 'x = [1]\nx', bad: '[1, 2]', line: 1 },
  {
    code: 'W002',
    good: `${head}@external\ndef f() -> int: ...\nf()`,
    bad: `${head}@external\ndef f() -> int: ...\nx = 1\nx`,
    line: 3,
  },
  { code: 'W003', good: `${head}x: int = Input("x")\nx`, bad: `${head}x: int = Input("x")\ny = 1\ny`, line: 2 },
  { code: 'W004', good: `${'x = 1\n'.repeat(199)}x\n`, bad: `${'x = 1\n'.repeat(200)}x\n`, line: 201 },
  {
    code: 'W006',
    good: `${head}@external\ndef submit_result(s: str) -> None: ...\nsubmit_result("a")`,
    bad: 'x = 1\nx',
    line: 1,
    options: { isSubmit: true },
  },
]

describe('checkScript', () => {
  it.each(rules)('$code: passes the good script and points at line $line of the bad one', async (rule) => {
    const good = await checkScript(rule.good, 'good.pym', rule.options)
    expect(good.faults).toEqual([])
    const bad = await checkScript(rule.bad, 'bad.pym', rule.options)
    expect(bad.faults.map(({ code, line }) => `${code} ${line}`)).toContain(`${rule.code} ${rule.line}`)
    expect(bad.valid).toBe(rule.code.startsWith('W'))
  })

  it('reports every fault of a script, in the order of its lines', async () => {
    const { faults } = await checkScript('import os\nclass A:\n  pass\nf = lambda: 1\n', 'bad.pym')
    expect(faults.map(({ code }) => code)).toEqual(['E005', 'E001', 'E012'])
  })

  it('types the answers of externals and the values of inputs', async () => {
    const source = `${head}paths: list[str] = Input("paths")\n\n@external\nasync def read_file(\n    path: str,\n) -> str:\n    """Doc.\n\n    More."""\n    ...\n\ntext = await read_file(paths[0])\ntext.lower() + 1\n`
    const { faults } = await checkScript(source, 'typed.pym')
    expect(faults).toMatchObject([{ code: 'E100', line: 14 }])
  })
})
