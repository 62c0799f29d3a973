import { describe, expect, it } from 'vitest'
import { type ConductorState, type InboxMessage, PlanningItem } from '#domain/agenda.ts'
import type { RunId } from '#domain/ids.ts'
import { putItemReads } from '#store/objects/stored-records.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openConducting } from './conducted-run.fixture.ts'

const run = useOpened(openConducting)

const openOf = (state: ConductorState | null) => (state?.kind === 'open' ? state.planning : [])

/** The decisions, with what each follows from. */
async function decidedIn(runId: RunId): Promise<string[]> {
  const events = await run.eventsOf(runId)
  const decided = events.filter(({ event }) => /^(?:\w+\.decided|objective\.refined|plan\.approved)$/.test(event))
  return decided.map(({ event, causationSeq: cause }) =>
    cause === undefined ? event : `${event} ← ${events[cause - 1]?.event}`,
  )
}

describe('the steps after it', () => {
  it('ask nobody while items are under way, and then how the run goes on: another way where one was closed', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('replan')
    expect([await step(runId), await step(runId), await asked()]).toEqual(['idle', 'idle', 1])
    await run.endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['idle', 2])
    await run.endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    const { items, answer } = await run.agendaOf(runId)
    expect(items.map(({ item_id: id, status }) => [id, status])).toEqual([
      ['first', 'ended'],
      ['second', 'cancelled'],
      ['lint', 'ended'],
    ])
    expect(answer).not.toBeNull()
    const next = 'conductor.decided ← item.ended'
    expect(await decidedIn(runId)).toEqual(['agenda.decided', next, next])
    expect((await run.ledger.verify(runId)).violations.filter(({ message }) => message.includes('follows'))).toEqual([])
  })

  it('block the run once two decisions have brought nothing new, without asking for a third', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('fruitless')
    for (let round = 0; round < 3; round++) {
      expect(await step(runId)).toBe('idle')
      await run.endItems(runId)
    }
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    expect(await run.stateOf(runId)).toMatchObject({
      kind: 'blocked',
      code: 'POLICY_004',
      reason: expect.stringMatching(/^the last 2/),
    })
  })

  it('make one follow-up of a wake, however often it comes', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('wake')
    const rationale = 'nothing has moved for 60 s'
    const stalled = { kind: 'stalled_run', urgency: 'low', mitigation: 'retry', rationale } as const
    const escalation = { ...stalled, affected: ['run'], dedup_key: 'stalled 1' }
    const wake: InboxMessage = { kind: 'escalation', escalation }
    await step(runId)
    await run.tell(runId, wake, 'one')
    await run.tell(runId, wake, 'two')
    await run.endItems(runId)
    await step(runId)
    await run.tell(runId, wake, 'three')
    await run.endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    expect((await run.agendaOf(runId)).items.map(({ item_id: id }) => id)).toEqual(['lint', 'wake-1'])
  })

  it('take what somebody says into the objective before anything else is decided', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('one')
    await step(runId)
    await run.tell(runId, { kind: 'said', text: 'and the docs', by: 'me' }, 'said')
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
    await run.endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    expect(await decidedIn(runId)).toEqual([
      'agenda.decided',
      'objective.refined ← objective.extended',
      'conductor.decided ← objective.refined',
    ])
  })

  it('let who plans anew know all of what has not begun, its criteria too', async () => {
    const runId = await run.conducted({ approval: 'plan' })
    const { step } = await run.conductor('replan')
    await step(runId)
    const planned = (await run.agendaOf(runId)).items
    await run.tell(runId, { kind: 'said', text: 'and the docs', by: 'me' }, 'said')
    await step(runId)
    expect((await run.agendaOf(runId)).items).toEqual(planned)
    expect(planned[0]?.success_criteria).toEqual([{ kind: 'proved_changes', least: 1 }])
  })

  it('say which items a push makes stale, and ask nobody to approve a plan of which nothing is left', async () => {
    const runId = await run.conducted({ approval: 'plan' })
    const { step, asked } = await run.conductor('basic')
    expect(await step(runId)).toBe('idle')
    for (const { item_id: itemId, version } of openOf(await run.stateOf(runId))) {
      const place = { projectId: run.project, runId }
      const reads = await putItemReads(run.objects, place, { v: 1, paths: [`${itemId}.py`] })
      await run.ledger.noteItem(runId, { itemId, version, reads, estimate: { operations: 1, tokens: 1 } })
    }
    const push = (commit: string, paths: string[]) => run.tell(runId, { kind: 'pushed', commit, paths }, commit)
    await push('1'.repeat(40), ['lint.py', 'README.md'])
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
    expect(await run.stateOf(runId)).toMatchObject({ waits: { kind: 'approval' } })
    await push('2'.repeat(40), ['lint.py', 'docstring.py'])
    expect([await step(runId), await asked()]).toEqual(['over', 2])
    const stale = (await run.eventsOf(runId)).filter(({ event }) => event === 'items.stale')
    expect(stale.map(({ data }) => [data['item_ids'], data['commit']])).toEqual([
      [['lint'], '1'.repeat(40)],
      [['docstring'], '2'.repeat(40)],
    ])
    const { items } = await run.agendaOf(runId)
    expect(items.map(({ status }) => status)).toEqual(['stale', 'stale'])
  })

  it('of a plan that is only counted end the run when all is counted', async () => {
    const runId = await run.conducted({ dryRun: true })
    const { step, asked } = await run.conductor('one')
    expect(await step(runId)).toBe('idle')
    const { version } = PlanningItem.parse(openOf(await run.stateOf(runId))[0])
    const estimate = { operations: 3, tokens: 900 }
    await run.ledger.noteItem(runId, { itemId: 'lint', version, reads: 'r', estimate })
    expect([await step(runId), await asked()]).toEqual(['over', 1])
    expect([await run.stateOf(runId), (await run.agendaOf(runId)).items]).toMatchObject([
      { kind: 'done' },
      [{ status: 'waiting' }],
    ])
  })
})
