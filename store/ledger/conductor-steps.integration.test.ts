import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)
const origin = { kind: 'api', id: 'q1' } as const
const eventsOf = (runId: RunId) => test.ledger.readEvents(runId, { after: 0, limit: 500 })

describe('a step of a conductor', () => {
  it('is claimed by one at a time, and taken over with the reply that the first had noted', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const claim = (token: string, leaseMs = 60_000) => ledger.claimStep(runId, { token, leaseMs })
    expect(await claim('one')).toMatchObject({ kind: 'claimed', step: { version: 0, reply: null, inbox: [] } })
    expect(await claim('other')).toMatchObject({ kind: 'busy' })
    expect(await ledger.noteReply(runId, { token: 'other', version: 0, recordHash: 'no', tokens: 0 })).toBe('lost')
    expect(await ledger.noteReply(runId, { token: 'one', version: 0, recordHash: 'said', tokens: 0 })).toBe('noted')
    await claim('one', 0)
    const taken = await claim('other')
    expect(taken).toMatchObject({ kind: 'claimed', step: { version: 0, reply: 'said' } })
    if (taken.kind !== 'claimed') throw new Error(taken.kind)
    const step = { ...taken.step, consumed: 0, dispatch: [], events: [] }
    expect(await ledger.commitStep(runId, { ...step, token: 'one' })).toBe('lost')
    for (const _ of [1, 2]) expect(await ledger.commitStep(runId, { ...step, token: 'other' })).toBe('committed')
    expect(await claim('one')).toMatchObject({ kind: 'claimed', step: { version: 1, reply: null } })
  })

  it('hears what people say once, in order, and takes it in with its commit', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const said = (text: string) => ({ kind: 'said', text, by: 'human/t1' }) as const
    for (const _ of [1, 2]) await ledger.sendToConductor(runId, said('and tests'), { command: 'a', origin })
    const claimed = await ledger.claimStep(runId, { token: 'one', leaseMs: 60_000 })
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
    await ledger.sendToConductor(runId, said('not the examples'), { command: 'b', origin })
    const { version, state, inbox } = claimed.step
    const step = { token: 'one', version, state, consumed: inbox.length, dispatch: [], events: [] }
    await ledger.commitStep(runId, step)
    const last = (await eventsOf(runId)).findLast(({ event }) => event === 'objective.extended')
    const next = await ledger.claimStep(runId, { token: 'one', leaseMs: 60_000 })
    expect(next).toMatchObject({ step: { inbox: [{ ...said('not the examples'), seq: last?.seq }] } })
  })

  it('that waits for an approval has its run wait, until somebody says something', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('counted'))
    for (const _ of [1, 2]) await takeStep(ledger, runId, { waits: { kind: 'approval' } })
    expect((await ledger.getRun(runId)).status).toBe('running') // it has an item to plan
    await ledger.noteItem(runId, { itemId: 'counted', version, estimate: { operations: 1, tokens: 1 } })
    await takeStep(ledger, runId, { waits: { kind: 'approval' } })
    expect((await ledger.getRun(runId)).status).toBe('waiting')
    const [waiting, ...more] = (await eventsOf(runId)).filter(({ event }) => event === 'run.waiting')
    expect([waiting?.data['waiting_for'], more]).toMatchObject([[{ kind: 'approval' }], []])
    await ledger.sendToConductor(runId, { kind: 'approved', plan_hash: 'p', by: 'human/t1' }, { command: 'a', origin })
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', conductor: { messages: 1, waits: null } })
  })

  it('dispatches an item that a model has described with half a character', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('half', { objective: 'Mend \uD83D' }))
    const slice = aPlannedItem('half', version, [aPlannedOperation('first')])
    expect(await ledger.plan(runId, slice)).toBe('planned')
  })

  it('that closes lets the run be composed once nothing is open, and nobody is heard any more', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('one'))
    await ledger.plan(runId, aPlannedItem('one', version, [aPlannedOperation('first')]))
    const close = { kind: 'blocked', code: 'POLICY_001', reason: 'no way on' } as const
    await takeStep(ledger, runId, { close })
    expect((await ledger.getRun(runId)).phase).toBe('execution')
    await test.settleAll(runId)
    expect(await ledger.getRun(runId)).toMatchObject({ phase: 'review', conductor: close })
    const message = { kind: 'said', text: 'more', by: 'human/t1' } as const
    expect(await ledger.sendToConductor(runId, message, { command: 'a', origin })).toBe('over')
  })
})
