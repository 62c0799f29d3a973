import { describe, expect, it } from 'vitest'
import { readFile, useProbePool } from './probe-pool.fixture.ts'

const probe = useProbePool()

describe('a journal', () => {
  const source = `${readFile}a = await read_file("a")
try:
    b = await read_file("b")
except FileNotFoundError as fault:
    b = str(fault)
print(a, b)
await read_file("c") + b`
  const journal = [
    { name: 'read_file', args: ['a'], answer: 'A' },
    { name: 'read_file', args: ['b'], error: { type: 'FileNotFoundError', message: 'no b' } },
  ]

  it('answers the calls it holds, and the host the rest', async () => {
    const asked: unknown[] = []
    const read_file = (args: unknown[]): string => {
      asked.push(args)
      return 'C '
    }
    expect(await probe.run(source, { externals: { read_file }, journal })).toEqual({
      kind: 'returned',
      value: 'C no b',
      printed: 'A no b\n',
      journal: [...journal, { name: 'read_file', args: ['c'], answer: 'C ' }],
    })
    expect(asked).toEqual([['c']])
  })

  it.each([
    [
      'other arguments',
      [{ name: 'read_file', args: ['x'], answer: 'A' }],
      'other arguments than before, in its external call 1',
    ],
    ['another name', [{ name: 'list_dir', args: ['a'], answer: [] }], 'calls read_file, not list_dir, than before'],
    ['more calls', [...journal, ...journal, ...journal], 'other arguments'],
  ])('of %s ends the script as diverged', async (_, entries, message) => {
    const ending = await probe.run(source, { externals: { read_file: () => 'C' }, journal: entries })
    expect(ending).toMatchObject({ kind: 'diverged', code: 'ASK_004', message: expect.stringContaining(message) })
  })

  it.each(['1', '1 / 0'])('of calls that are not made before `%s` ends the script as diverged', async (end) => {
    expect(await probe.run(end, { journal })).toMatchObject({
      kind: 'diverged',
      message: expect.stringContaining('call 1'),
    })
  })
})
