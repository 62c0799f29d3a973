import { describe, expect, it } from 'vitest'
import { newDiagnostics, readMypyLines, readPyright, readRuff, readStyleLines } from './diagnostics.ts'

describe('diagnostics', () => {
  const unused = { file: 'a.py', line: 3, rule: 'F401', message: '`os` imported but unused' }
  const again = { file: 'a.py', line: 9, rule: 'F811', message: 'Redefinition of unused `f` from line 4' }

  it('are not new when only lines have moved, in the place or in the message', () => {
    const moved = { ...again, line: 12, message: 'Redefinition of unused `f` from line 7' }
    expect(newDiagnostics([unused, again], [{ ...unused, line: 5 }, moved])).toEqual([])
  })

  it('are new one by one: two faults that went do not make up for another one', () => {
    const undefinedName = { file: 'a.py', line: 8, rule: 'F821', message: 'Undefined name `os`' }
    expect(newDiagnostics([unused, again], [undefinedName])).toEqual([undefinedName])
    expect(newDiagnostics([unused], [unused, { ...unused, line: 8 }])).toHaveLength(1)
  })
})

describe('the answers of', () => {
  it('Ruff are read, all or those with a safe fix', () => {
    const fault = (code: string | null, applicability: string | undefined) => ({
      code,
      filename: '/t/src/a.py',
      message: 'm',
      location: { row: 2, column: 1 },
      fix: applicability === undefined ? null : { applicability },
    })
    const out = JSON.stringify([fault('F401', 'safe'), fault('F841', 'unsafe'), fault(null, undefined)])
    expect(readRuff(out, '/t', 'safe')).toEqual([{ file: 'src/a.py', line: 2, rule: 'F401', message: 'm' }])
    expect(readRuff(out, '/t', 'all').map(({ rule }) => rule)).toEqual(['F401', 'F841', 'invalid-syntax'])
  })

  it('flake8 and pycodestyle are read line by line', () => {
    expect(readStyleLines('./a.py:1:80: E501 line too long (81 > 79 characters)\nsomething else\n')).toEqual([
      { file: 'a.py', line: 1, rule: 'E501', message: 'line too long (81 > 79 characters)' },
    ])
  })

  it('mypy are read with their code and without notes', () => {
    const out =
      'src/a.py:3: error: Unused "type: ignore" comment  [unused-ignore]\nsrc/a.py:3: note: see\nb.py:1: error: no\n'
    expect(readMypyLines(out)).toEqual([
      { file: 'src/a.py', line: 3, rule: 'unused-ignore', message: 'Unused "type: ignore" comment' },
      { file: 'b.py', line: 1, rule: 'error', message: 'no' },
    ])
  })

  it('pyright are read without its warnings', () => {
    const one = { file: '/t/a.py', severity: 'error', message: 'm', rule: 'r', range: { start: { line: 0 } } }
    const out = JSON.stringify({ generalDiagnostics: [one, { ...one, severity: 'warning' }] })
    expect(readPyright(out, '/t')).toEqual([{ file: 'a.py', line: 1, rule: 'r', message: 'm' }])
  })
})
