import { describe, expect, it } from 'vitest'
import type { Span } from '#domain/span.ts'
import { newTraceparent } from '#domain/traceparent.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import {
  anEvent,
  anOutcome,
  aPlannedOperation,
  claimReady,
  type TestLedger,
  testLedger,
} from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { tracedAttempts } from './attempt-spans.ts'

const test = useOpened(testLedger)

const turn = (['model.requested', 'model.responded', 'turn.finished'] as const).map((event) =>
  anEvent({ event, data: { turn: 1 } }),
)

/** The spans of a run of `count` operations, one turn each, ended by `end`. */
async function spansOf(
  { share, count, isSampled = true }: { share: number; count: number; isSampled?: boolean },
  end: (ledger: TestLedger['ledger'], attempt: Attempt, at: number) => Promise<unknown>,
): Promise<Span[]> {
  const spans: Span[] = []
  const ledger = tracedAttempts(test.ledger, { record: (span) => spans.push(span), share })
  const operations = Array.from({ length: count }, (_, at) => aPlannedOperation(`f${at}`))
  const runId = await test.executing(operations, {}, newTraceparent(null, isSampled))
  for (const [at, attempt] of (await claimReady(ledger, runId)).entries()) {
    await ledger.append(attempt, 1, { events: turn })
    await end(ledger, attempt, at)
  }
  return spans
}

const succeed = (ledger: TestLedger['ledger'], attempt: Attempt) =>
  ledger.settle(attempt, 2, { outcome: anOutcome(), events: [] })
const attemptsIn = (spans: readonly Span[]) => spans.filter(({ name }) => name === 'invoke_agent lint')

describe('spans of attempts', () => {
  it('are those of every operation with a share of 1, of none with 0, and about the share between', async () => {
    const all = await spansOf({ share: 1, count: 5 }, succeed)
    expect(
      all
        .map(({ name }) => name)
        .toSorted()
        .filter((name, at, names) => name !== names[at - 1]),
    ).toEqual(['chat', 'invoke_agent lint', 'settle', 'turn'])
    expect(attemptsIn(all)).toHaveLength(5)
    expect(await spansOf({ share: 0, count: 5 }, succeed)).toEqual([])
    const [some, most] = [0.3, 0.9]
    const fewer = attemptsIn(await spansOf({ share: some, count: 300 }, succeed)).length
    expect(fewer).toBeGreaterThan(0)
    expect(attemptsIn(await spansOf({ share: most, count: 300 }, succeed)).length).toBeGreaterThan(fewer)
  })

  it('are there whatever the share for what failed and for what was handed back, with what was done in it', async () => {
    const spans = await spansOf({ share: 0, count: 3 }, (ledger, attempt, at) => {
      if (at === 0) return succeed(ledger, attempt)
      if (at === 1) return ledger.release(attempt, 2, { reason: 'models', events: [] })
      return ledger.settle(attempt, 2, { outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_003' }), events: [] })
    })
    expect(attemptsIn(spans).map(({ attributes }) => attributes['remora.end'])).toEqual([
      'handed_back: models',
      'failed',
    ])
    for (const { spanId } of attemptsIn(spans)) {
      expect(spans.filter(({ parentId }) => parentId === spanId).map(({ name }) => name)).toEqual(['turn', 'settle'])
    }
  })

  it('of a turn that the end of its attempt cut off have the error of the attempt', async () => {
    const requested = anEvent({ event: 'model.requested', data: { turn: 2 } })
    const spans = await spansOf({ share: 0, count: 1 }, (ledger, attempt) =>
      ledger.settle(attempt, 2, {
        outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_006' }),
        events: [requested],
      }),
    )
    const turns = spans.filter(({ name }) => name === 'turn')
    expect(turns.map(({ errorCode }) => errorCode)).toEqual([undefined, 'AGENT_006'])
  })

  it('are none in a run that is not traced', async () => {
    expect(await spansOf({ share: 1, count: 2, isSampled: false }, succeed)).toEqual([])
  })
})
