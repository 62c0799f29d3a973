import { describe, expect, it } from 'vitest'
import { readFile, useProbePool } from './probe-pool.fixture.ts'
import { ScriptError } from './script-call.ts'

const probe = useProbePool()
const read_file = (): never => {
  throw new ScriptError('FileNotFoundError', 'a is not there')
}

describe('a traceback', () => {
  it.each([
    [
      'nested functions',
      'def inner(x: int) -> float:\n    return 1 / x\n\ndef outer() -> float:\n    return inner(0)\n\nouter()',
      '  tools/probe.pym:7 in <module>\n    outer()\n  tools/probe.pym:5 in outer\n    return inner(0)\n  tools/probe.pym:2 in inner\n    return 1 / x\nZeroDivisionError: division by zero',
    ],
    [
      'a comprehension',
      'xs = [2, 0]\nys = [\n    10 // x\n    for x in xs\n]',
      '  tools/probe.pym:3 in <module>\n    10 // x\nZeroDivisionError: division by zero',
    ],
    [
      'an external that a function calls',
      `${readFile}async def load() -> str:\n    return await read_file("a")\n\nawait load()`,
      '  tools/probe.pym:7 in <module>\n    await load()\n  tools/probe.pym:5 in load\n    return await read_file("a")\nFileNotFoundError: a is not there',
    ],
    [
      'what only Monty finds to be no Python',
      'x = 1\nbreak',
      "  tools/probe.pym:2 in <module>\n    break\nSyntaxError: 'break' outside loop",
    ],
    [
      'an exception that Monty cannot make',
      'raise ValueError(1, [2])',
      'RuntimeError: exceptions can only be called with zero or one string argument',
    ],
  ])("shows the author's lines of %s", async (_, source, traceback) => {
    const ending = await probe.run(source, source.includes('read_file') ? { externals: { read_file } } : {})
    expect(ending).toMatchObject({ kind: 'raised', traceback })
  })

  it('stays short however long the message and the line are', async () => {
    const ending = await probe.run(`raise ValueError("${'x'.repeat(60_000)}")`)
    expect('traceback' in ending ? ending.traceback.length : 0).toBeGreaterThan(4_000)
    expect(JSON.stringify(ending).length).toBeLessThan(10_000)
  })
})
