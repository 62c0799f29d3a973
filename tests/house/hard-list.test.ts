import { describe, expect, it } from 'vitest'
import { hardListText, hardListViolations, readHardList, waitingTests } from './hard-list.ts'

const tried = { file: 'domain/a.test.ts', hash: 'aa', runs: 20, date: '2026-01-31' }
const old = { file: 'domain/b.test.ts', hash: 'bb' }

describe('tests that wait', () => {
  it('are new or changed when the list has no entry of their hash', () => {
    const list = { tried: [tried], before: [old] }
    const { file, hash } = tried
    expect(hardListViolations(list, [{ file, hash }, old])).toEqual([])
    const changed = [
      { file, hash: 'bb' },
      { ...old, hash: 'aa' },
      { file: 'domain/c.test.ts', hash: 'aa' },
    ]
    const names = ['domain/a.test.ts', 'domain/b.test.ts', 'domain/c.test.ts']
    expect(hardListViolations(list, changed)).toEqual(
      names.map((name) => `${name} waits, and is new or changed: npm run test:hard ${name}`),
    )
  })

  it('may not be gone while the list names them', () => {
    expect(hardListViolations({ tried: [tried], before: [old] }, [])).toEqual([
      'domain/a.test.ts is gone, or waits no more: remove its line from tests/hard.json',
      'domain/b.test.ts is gone, or waits no more: remove its line from tests/hard.json',
    ])
  })

  it('are found by what they call', () => {
    const files = waitingTests().map(({ file }) => file)
    expect(files).toContain('testing/until.test.ts')
    expect(files).toContain('store/queues/lost-queue.integration.test.ts')
    expect(files).toContain('tests/e2e/review-terminal.e2e.test.ts')
    expect(files).not.toContain('tests/house/hard-list.test.ts')
  })

  it('have a line each', () => {
    expect(hardListText({ tried: [tried], before: [old, old] })).toBe(`{
  "tried": [
    {"file":"domain/a.test.ts","hash":"aa","runs":20,"date":"2026-01-31"}
  ],
  "before": [
    {"file":"domain/b.test.ts","hash":"bb"},
    {"file":"domain/b.test.ts","hash":"bb"}
  ]
}
`)
  })

  it('have been repeated beside busy processes in their present form (npm run test:hard FILE…)', () => {
    const list = readHardList()
    const { length } = list.before
    process.stdout.write(`\naim: ${length} waiting tests of before that npm run test:hard has not repeated yet (0)\n`)
    expect(hardListViolations(list, waitingTests())).toEqual([])
  })
})
