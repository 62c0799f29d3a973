import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ownFiles, readRepositoryFile } from './source-files.ts'

export const hardListPath = 'tests/hard.json'

const WaitingTest = z.strictObject({ file: z.string(), hash: z.string() })
export type WaitingTest = z.infer<typeof WaitingTest>

/**
 * `tried` are the waiting tests that `npm run test:hard` has repeated in their present form, sorted by file. `before` are
 * those that were there before the rule and are still to be tried, the slowest first where their time is known.
 */
const HardList = z.strictObject({
  tried: z.array(z.strictObject({ ...WaitingTest.shape, runs: z.int(), date: z.iso.date() })),
  before: z.array(WaitingTest),
})
export type HardList = z.infer<typeof HardList>

export function readHardList(): HardList {
  return HardList.parse(JSON.parse(readRepositoryFile(hardListPath)))
}

/** Writes a line for each test, so that two changes of the list seldom meet. */
export function hardListText({ tried, before }: HardList): string {
  const lines = (tests: readonly object[]) => tests.map((test) => `\n    ${JSON.stringify(test)}`).join(',')
  return `{\n  "tried": [${lines(tried)}\n  ],\n  "before": [${lines(before)}\n  ]\n}\n`
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Tells whether a test file waits for something with `until`, `vi.waitFor` or `expect.poll`. */
export function isWaiting(text: string): boolean {
  return /\/until\.ts'|\bvi\.waitFor\(|\bexpect\.poll\(/.test(text)
}

export function waitingTests(): WaitingTest[] {
  return ownFiles().flatMap((file) => {
    if (!file.endsWith('.test.ts')) return []
    const text = readRepositoryFile(file)
    return isWaiting(text) ? [{ file, hash: hashOf(text) }] : []
  })
}

/** Says of each waiting test that is new or changed, and of each entry whose test is gone, what is to be done. */
export function hardListViolations({ tried, before }: HardList, waiting: readonly WaitingTest[]): string[] {
  const listed = new Set([...tried, ...before].map(({ file, hash }) => `${file} ${hash}`))
  const files = new Set(waiting.map(({ file }) => file))
  return [
    ...waiting
      .filter(({ file, hash }) => !listed.has(`${file} ${hash}`))
      .map(({ file }) => `${file} waits, and is new or changed: npm run test:hard ${file}`),
    ...[...tried, ...before]
      .filter(({ file }) => !files.has(file))
      .map(({ file }) => `${file} is gone, or waits no more: remove its line from ${hardListPath}`),
  ]
}
