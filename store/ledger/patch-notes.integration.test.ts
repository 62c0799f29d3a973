import { expect, it } from 'vitest'
import { sha256, type RunId } from '#domain/ids.ts'
import { laterCompositions, mostParts, type PartNote } from '#domain/patch-note.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)

const composed = (name: string, decided: number, compositionKey = `composition of ${name}`): PartNote => {
  return { part: sha256(name), decided, compositionKey }
}
const faulty = (name: string, decided: number, at = 1): PartNote => {
  return { part: sha256(name), decided, errorCode: 'WORK_003', reason: 'it is "not" accepted: \n ü'.repeat(99), at }
}
const begun = () => test.executing([aPlannedOperation('f')])
const partsOf = async (runId: RunId) => (await test.ledger.getRun(runId)).parts

it('keeps what became of each part last, and says what gave way to it', async () => {
  const runId = await begun()
  expect(await partsOf(runId)).toEqual([])
  expect(await test.ledger.notePart(runId, composed('one', 3))).toEqual([])
  expect(await test.ledger.notePart(runId, faulty('two', 3))).toEqual([])
  expect(await test.ledger.notePart(runId, composed('two', 4, 'again'))).toEqual([
    { part: sha256('two'), compositionKey: '' },
  ])
  expect(await test.ledger.notePart(runId, faulty('one', 5))).toEqual([
    { part: sha256('one'), compositionKey: 'composition of one' },
  ])
  const run = await test.ledger.getRun(runId)
  expect(run.parts.map(({ part, decided }) => [part, decided])).toEqual([
    [sha256('two'), 4],
    [sha256('one'), 5],
  ])
  expect(laterCompositions(run)).toEqual(['again'])
  expect(JSON.stringify(run.parts).length).toBeLessThan(2_000)
})

it('keeps none that is older, but a fault gives way to another try', async () => {
  const runId = await begun()
  await test.ledger.notePart(runId, composed('one', 3))
  expect(await test.ledger.notePart(runId, composed('one', 2))).toBe('older')
  expect(await test.ledger.notePart(runId, faulty('one', 3))).toBe('older')
  await test.ledger.notePart(runId, faulty('two', 3))
  expect(await test.ledger.notePart(runId, composed('two', 2))).toBe('older')
  expect(await test.ledger.notePart(runId, composed('two', 3))).toHaveLength(1)
})

it('keeps a reason that is cut within a character, and other notes after it', async () => {
  const runId = await begun()
  await test.ledger.notePart(runId, { ...faulty('one', 1), reason: `x${'😀'.repeat(300)}` })
  await test.ledger.notePart(runId, composed('two', 1))
  expect(await partsOf(runId)).toMatchObject([{ reason: expect.stringMatching(/^x(?:😀)+�$/u) }, composed('two', 1)])
})

it('forgets those that were noted longest ago', async () => {
  const runId = await begun()
  for (let at = 0; at < mostParts; at += 1) await test.ledger.notePart(runId, composed(`part ${at}`, 1))
  await test.ledger.notePart(runId, composed('part 0', 2)) // is the newest now
  const gone = await test.ledger.notePart(runId, composed('one more', 2))
  expect(gone).toEqual([{ part: sha256('part 1'), compositionKey: 'composition of part 1' }])
  const parts = await partsOf(runId)
  expect(parts).toHaveLength(mostParts)
  expect(parts.slice(-2).map(({ part }) => part)).toEqual([sha256('part 0'), sha256('one more')])
})
