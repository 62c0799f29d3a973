import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { anEvent, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runKeys } from './keys.ts'

const test = useOpened(testLedger)

/** A run one of whose items has ended. */
async function worked(): Promise<RunId> {
  const { ledger } = test
  const runId = await conductedRun(ledger)
  const version = await dispatchItems(ledger, runId, anItem('one'))
  await ledger.plan(runId, aPlannedItem('one', version, [aPlannedOperation('first')]))
  await test.settleAll(runId)
  return runId
}

describe('verify', () => {
  it.each<[string, (runId: RunId) => Promise<unknown>, number, RegExp]>([
    [
      'a count of an item is off',
      (runId) => test.redis.hincrby(runKeys(test.namespace, runId).items, 'one:succeeded', 1),
      2,
      /of item one are counted 1 planned, 0 open, 0 left, 2 succeeded/,
    ],
    [
      'the agenda has an item that nobody decided on',
      async (runId) => {
        const { state } = (await test.ledger.readAgenda(runId)) ?? {}
        if (state !== undefined)
          await takeStep(test.ledger, runId, { state: { ...state, items: [...state.items, anItem('secret')] } })
      },
      2,
      /the agenda has item secret, no decision has/,
    ],
    [
      'an item has ended twice',
      async (runId) => {
        const events = await test.ledger.readEvents(runId, { after: 0, limit: 100 })
        const ended = events.find(({ event }) => event === 'item.ended')
        const again = anEvent({ event: 'item.ended', phase: 'execution', data: ended?.data ?? {} })
        await takeStep(test.ledger, runId, { events: [again] })
      },
      3,
      /item one was not under way/,
    ],
  ])('says that %s', async (_name, damage, invariant, says) => {
    const runId = await worked()
    expect((await test.ledger.verify(runId)).violations).toEqual([])
    await damage(runId)
    const { violations } = await test.ledger.verify(runId)
    expect(violations).toEqual([{ invariant, message: expect.stringMatching(says) }])
  })
})
