import { expect, it } from 'vitest'
import { until } from './until.ts'

const soon = { withinMs: 20 }

it('returns what was read as soon as the condition holds', async () => {
  const lines: string[] = []
  const grown = () => (lines.push('one more'), lines)
  expect(await until(grown, { holds: ({ length }) => length === 3 })).toHaveLength(3)
  expect(await until(async () => lines.at(2))).toBe('one more')
})

it('knows the type of what it returns', async () => {
  const read = (): { state: 'away'; since: number } | { state: 'ok' } => ({ state: 'away', since: 5 })
  expect((await until(read, { holds: (part) => part.state === 'away' })).since).toBe(5)
})

it('shows the last value and both functions when the time is over', async () => {
  const run = { status: 'running', operations: [{ status: 'ready' }] }
  const late = until(() => run, { holds: ({ operations }) => operations.length > 1, ...soon })
  await expect(late).rejects.toThrow(
    [
      'not within 20 ms',
      'read: () => run',
      'holds: ({ operations }) => operations.length > 1',
      "last value: { status: 'running', operations: [ { status: 'ready' } ] }",
    ].join('\n'),
  )
  await expect(until(() => undefined, soon)).rejects.toThrow(
    'not within 20 ms\nread: () => undefined\nlast value: undefined',
  )
})

it('shows a long value by its beginning and its end', async () => {
  const log = `first${'.'.repeat(10_000)}last`
  const failure: unknown = await until(() => log, { holds: (text) => text === '', ...soon }).catch(String)
  expect(failure).toMatch(/last value: first\.+ … \.+last$/)
  expect(String(failure).length).toBeLessThan(2_200)
})

it('points at the test that waits', async () => {
  const failure: unknown = await until(() => false, soon).catch((error: unknown) => error)
  expect(failure).toHaveProperty('stack', expect.stringMatching(/last value: false\n +at .*until\.test\.ts/))
})

it('fails at once with what was read before when a reading fails', async () => {
  let pages = 0
  const read = () => {
    pages += 1
    if (pages === 3) throw new Error('it has ended')
    return pages
  }
  const failure = until(read, { holds: (page) => page > 5 })
  await expect(failure).rejects.toThrow(/^it has ended\nread: [^]*\nholds: \(page\) => page > 5\nlast value: 2$/)
  await expect(failure).rejects.toHaveProperty('cause.message', 'it has ended')
  const none = until(() => Promise.reject(new Error('away')))
  await expect(none).rejects.toThrow(/^away\nread: .*\nlast value: nothing$/)
})
