import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BundleLimits } from '#domain/agent-bundle.ts'
import { limitsOfBundle } from './script-limits.ts'
import { ScriptSuspended } from './script-ending.ts'
import { readFile, useProbePool } from './probe-pool.fixture.ts'

const probe = useProbePool()

describe('a limit', () => {
  it.each([
    ['duration', 'TOOL_003', 'while True:\n    pass'],
    ['memory', 'TOOL_006', 'x = []\nwhile True:\n    x.append("a" * 10000)'],
    ['recursion', 'TOOL_006', 'def f(n: int) -> int:\n    return f(n + 1)\nf(0)'],
    ['value_size', 'TOOL_006', '["a" * 100000] * 50'],
    ['value_depth', 'TOOL_006', 'x = []\nfor i in range(90):\n    x = [x]\nx'],
  ])('%s stops the script and names itself', async (limit, code, source) => {
    expect(await probe.run(source, { limits: { preset: 'strict' } })).toMatchObject({ kind: 'stopped', code, limit })
    expect(await probe.run('1')).toMatchObject({ kind: 'returned' })
  })

  it('that a bundle names replaces that of its preset, and the others stay', async () => {
    const named = BundleLimits.parse({ script: { preset: 'strict', memory_mb: 64, recursion: 400 } })
    const limits = limitsOfBundle(named.script)
    const large = 'x = []\nfor n in range(20):\n    x.append("a" * 1048576)\nlen(x)'
    const deep = 'def f(n: int) -> int:\n    return n if n == 0 else f(n - 1)\nf(300)'
    expect(await probe.run(large, { limits: { preset: 'strict' } })).toMatchObject({ limit: 'memory' })
    expect(await probe.run(large, { limits })).toMatchObject({ kind: 'returned', value: 20 })
    expect(await probe.run(deep, { limits })).toMatchObject({ kind: 'returned', value: 0 })
    const { message } = z.object({ message: z.string() }).parse(await probe.run('while True:\n    pass', { limits }))
    expect(message).toContain('500ms')
  })

  it('journal_size stops a script that calls the host without end', async () => {
    let calls = 0
    const read_file = () => {
      calls += 1
      return 'x'.repeat(100)
    }
    const source = `${readFile}while True:\n    try:\n        await read_file("a")\n    except Exception:\n        pass`
    expect(await probe.run(source, { externals: { read_file }, limits: { journalBytes: 5_000 } })).toMatchObject({
      kind: 'stopped',
      code: 'TOOL_006',
      limit: 'journal_size',
    })
    expect(calls).toBeLessThanOrEqual(100)
  })

  it('external_calls lets a script make exactly so many', async () => {
    const source = `${readFile}for n in range(3):\n    await read_file("a")`
    const run = (externalCalls: number) =>
      probe.run(source, { externals: { read_file: () => 'x' }, limits: { externalCalls } })
    expect(await run(3)).toMatchObject({ kind: 'returned' })
    expect(await run(2)).toMatchObject({ kind: 'stopped', limit: 'external_calls' })
  })

  it('journal_size counts what a script hands to the host, before the host does anything with it', async () => {
    const asked: unknown[] = []
    const source = `${readFile}for n in range(10):\n    await read_file("x" * 1000)`
    const read_file = ([path]: unknown[]) => (asked.push(path), '')
    const ending = await probe.run(source, { externals: { read_file }, limits: { journalBytes: 3_000 } })
    expect(ending).toMatchObject({ kind: 'stopped', code: 'TOOL_006', limit: 'journal_size' })
    expect(ending.journal).toHaveLength(2)
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['journal_size', { journalBytes: 1_000 }],
    ['external_calls', { externalCalls: 9 }],
  ])('%s goes on where the run before came to, however often it is taken up again', async (limit, limits) => {
    let calls = 0
    const read_file = () => {
      calls += 1
      if (calls % 3 === 0) throw new ScriptSuspended({ question: { text: 'Go on?', choices: null } })
      return 'x'.repeat(80)
    }
    const source = `${readFile}while True:\n    await read_file("a")`
    const request = { externals: { read_file }, limits }
    let ending = await probe.run(source, request)
    for (let round = 0; ending.kind === 'suspended' && round < 20; round += 1) {
      const journal = [...ending.journal, { ...ending.asked, answer: 'y'.repeat(80) }]
      ending = await probe.run(source, { ...request, journal })
    }
    expect(ending).toMatchObject({ kind: 'stopped', code: 'TOOL_006', limit })
    expect(JSON.stringify(ending.journal).length).toBeLessThan(1_200)
  })

  it('a journal over it is refused before anything starts', async () => {
    const journal = Array.from({ length: 3 }, () => ({ name: 'read_file', args: ['a'], answer: 'x'.repeat(400) }))
    const request = { externals: { read_file: () => 'x' }, limits: { journalBytes: 1_000 }, journal }
    const ending = await probe.run(`${readFile}await read_file("a")`, request)
    expect(ending).toMatchObject({ kind: 'stopped', code: 'TOOL_006', limit: 'journal_size' })
    expect(probe.pids()).toEqual([])
  })

  it('of printed text holds while a script prints without end', async () => {
    const ending = await probe.run('while True:\n    print("x" * 1000)', { limits: { durationMs: 10_000 } })
    expect(ending).toMatchObject({ kind: 'stopped', code: 'TOOL_006', limit: 'printed_text' })
    expect(await probe.run('1')).toMatchObject({ kind: 'returned' })
  })

  it('of printed text keeps the beginning of what is printed forever', async () => {
    const source = 'n = 0\nwhile n < 20000:\n    print("0123456789")\n    n += 1\nn'
    const ending = await probe.run(source)
    expect(ending).toMatchObject({ kind: 'returned', value: 20_000 })
    expect('printed' in ending ? ending.printed : '').toMatch(
      /^(0123456789\n){5000}[^]{0,15000}… \d+ more characters printed$/,
    )
  })

  it('of time does not count the wait for the host', async () => {
    const { ending: first, release } = await probe.waitingCall()
    const waiting = probe.run(`${readFile}await read_file("a")\nawait read_file("b")`, {
      externals: { read_file: async () => (await first, 'late') },
      limits: { durationMs: 200 },
    })
    const spinning = probe.run('while True:\n    pass', { limits: { durationMs: 600 } })
    expect(await spinning).toMatchObject({ kind: 'stopped', limit: 'duration' })
    release('done')
    expect(await waiting).toMatchObject({ kind: 'returned', value: 'late' })
  })
})
