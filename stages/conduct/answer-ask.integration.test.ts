import { describe, expect, it } from 'vitest'
import { ModelUnavailable } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { openObjectAudit, verifyDecisions } from '#stages/audit/verify-records.ts'
import { call, scriptedModel, type ScriptedReply } from '#stages/operate/agent/scripted-agent.fixture.ts'
import { useOpened } from '#testing/use-opened.ts'
import { type AnswerDeps, answerAsk } from './answer-ask.ts'
import { openConducting } from './conducted-run.fixture.ts'

const run = useOpened(openConducting)
const signal = AbortSignal.timeout(600_000)
const askId = 'a0123456789abcdef'

async function asking(text = 'Why has it ended?', request: Parameters<typeof run.conducted>[0] = {}) {
  const runId = await run.conducted(request)
  const origin = { kind: 'human', id: 'me' } as const
  await run.ledger.receiveAsk(runId, { askId, text, by: 'environment/me', phase: 'execution', origin })
  return runId
}

/** Returns a run that has ended, of which somebody asks then. */
async function ended() {
  const runId = await run.conducted()
  const origin = { kind: 'human', id: 'me' } as const
  await run.ledger.cancel(runId, { reason: 'enough', origin })
  await run.ledger.endSlice(runId, 0)
  const data = { reason: 'enough', requested_by: 'me' }
  const events = [{ event: 'run.cancelled', phase: 'execution', origin, data } as const]
  const from = [{ status: 'running' }] as const
  await run.ledger.move(runId, { from, to: { status: 'cancelled' }, command: 'stop', events })
  await run.ledger.receiveAsk(runId, { askId, text: 'Why?', by: 'me', phase: 'execution', origin })
  return runId
}

async function answering(runId: RunId, over: Partial<AnswerDeps> = {}, stalls = 0) {
  const { deps } = await run.conductor('basic')
  const chat = async () => ({ model: 'rehearsal', temperature: 0, toolChoice: 'required' as const })
  return answerAsk({ runId, askId, stalls }, { ...deps, ledger: run.ledger, chat, ...over }, signal)
}

const says = (details: object) => [call('submit_result', { status: 'success', summary: 'It ended.', details })]
const sound = { text: 'It has not ended.', events: [2], paths: [], findings: [] }
const unfounded = { ...sound, paths: ['no/such/file.py'] }

async function endOf(runId: RunId) {
  const ask = await run.ledger.readAsk(runId, askId)
  const events = (await run.eventsOf(runId)).filter(({ event }) => event.startsWith('ask.'))
  return { end: ask?.end, events }
}

describe('what somebody asks about a run', () => {
  it('is answered from what has happened in it, once, and counts for the run and its project', async () => {
    const runId = await asking()
    const before = (await run.ledger.readProjectBudget(run.project)).used
    const model = scriptedModel([says(sound)])
    expect([await answering(runId, { model }), await answering(runId, { model })]).toEqual(['over', 'over'])
    expect(model.requests).toHaveLength(1)
    const told = model.requests[0]?.messages.at(-1)?.content
    expect(told).toContain('Why has it ended?')
    expect(told).toContain('rm -rf / && be good')
    expect(told).toContain('run started')
    const { end, events } = await endOf(runId)
    expect(end).toMatchObject({ answer: sound, model: 'scripted' })
    const [received, answered] = events
    expect(answered).toMatchObject({ event: 'ask.answered', causationSeq: received?.seq, data: { answer: sound } })
    const answeredRun = await run.ledger.getRun(runId)
    expect(answeredRun).toMatchObject({ tokensIn: 10, tokensOut: 2 })
    const audit = openObjectAudit()
    await verifyDecisions(answeredRun, { ...run, audit })
    expect(audit.violations).toEqual([])
    expect((await run.ledger.readProjectBudget(run.project)).used - before).toBe(12)
  })

  it('is answered after the end of the run, too, and the rehearsal model says that it has read nothing', async () => {
    const runId = await ended()
    expect(await answering(runId)).toBe('over')
    expect((await endOf(runId)).end).toMatchObject({ answer: { text: expect.stringContaining('(no LLM)') } })
    expect((await run.ledger.verify(runId)).violations).toEqual([])
  })

  it.for<[what: string, replies: ScriptedReply[], end: object]>([
    ['once is explained to the model', [says(unfounded), says(sound)], { answer: sound }],
    ['twice is no answer', [says(unfounded)], { error_code: 'POLICY_002' }],
  ])('citing a file that does not exist %s', async ([, replies, end]) => {
    const runId = await asking()
    expect(await answering(runId, { model: scriptedModel(replies) })).toBe('over')
    expect((await endOf(runId)).end).toMatchObject(end)
    expect(await run.ledger.getRun(runId)).toMatchObject({ tokensIn: 20, tokensOut: 4 })
  })

  it('waits while the model is away, and fails with POLICY_001 when that takes too long', async () => {
    const runId = await asking()
    const model = scriptedModel([new ModelUnavailable('no server answers', { kind: 'unsent', isAway: true })])
    expect(await answering(runId, { model })).toBe('again')
    expect((await endOf(runId)).end).toBeNull()
    expect(await answering(runId, { model, awayLimitMs: 0 })).toBe('over')
    expect((await endOf(runId)).end).toMatchObject({ error_code: 'POLICY_001' })
  })

  it('is not asked of a model where the budget of the run has too little left', async () => {
    const runId = await asking('Why?', { budget: { tokens: 100 } })
    const model = scriptedModel([says(sound)])
    expect(await answering(runId, { model })).toBe('over')
    expect((await endOf(runId)).end).toMatchObject({ error_code: 'LIMIT_004' })
    expect(model.requests).toEqual([])
  })

  it('has its tokens reserved while the model is asked, so that nothing else of the run uses them', async () => {
    const runId = await asking('Why?', { budget: { tokens: 40_000 } })
    const model = scriptedModel([says(sound)])
    let reserved = 0
    const complete: typeof model.complete = async (request) => {
      reserved = (await run.ledger.getRun(runId)).reserved
      return model.complete(request)
    }
    expect(await answering(runId, { model: { complete } })).toBe('over')
    expect(reserved).toBeGreaterThan(2_000)
    expect(await run.ledger.getRun(runId)).toMatchObject({ reserved: 0, tokens: 12 })
    expect((await run.ledger.verify(runId)).violations).toEqual([])
  })

  it('is not asked of a model after the end of the run where the day of its project has too little left', async () => {
    const runId = await ended()
    await run.ledger.setProjectBudget(run.project, { by: 'operator', tokens: 100 })
    expect(await answering(runId)).toBe('over')
    await run.ledger.setProjectBudget(run.project, { by: 'operator', tokens: null })
    expect((await endOf(runId)).end).toMatchObject({ error_code: 'LIMIT_004' })
  })

  it('is answered by one process at a time, and not by one that has lost that to another', async () => {
    const runId = await asking()
    const other = await run.ledger.whileHolding(runId, 'answering', () => answering(runId))
    expect([other, (await endOf(runId)).end]).toEqual(['again', null])
    const data = { ask_id: askId, error_code: 'TOOL_004', reason: 'late', prompt_tokens: 0, completion_tokens: 0 }
    const event = { event: 'ask.failed', phase: 'execution', origin: { kind: 'conductor', id: 'c1' }, data } as const
    const of = { by: 'asks', token: 'a-token-of-before' } as const
    const late = await run.ledger.whileHolding(runId, 'answering', async () => [
      await run.ledger.reserve(runId, { of, tokens: 1 }),
      await run.ledger.endAsk(runId, { token: of.token, event }),
    ])
    expect([late, (await endOf(runId)).end]).toEqual([['lost', 'lost'], null])
  })

  it('ends with what keeps it from being answered, also where that kills its process', async () => {
    const [broken, deadly] = [await asking(), await asking()]
    const chat = async () => Promise.reject(new Error('a fault of ours'))
    expect(await answering(broken, { chat })).toBe('over')
    expect((await endOf(broken)).end).toMatchObject({ error_code: 'TOOL_004', reason: 'a fault of ours' })
    expect(await answering(deadly, {}, 5)).toBe('over')
    expect((await endOf(deadly)).end).toMatchObject({
      error_code: 'TOOL_004',
      reason: expect.stringContaining('5 times'),
    })
  })

  it('holds its tokens of the day of its project, of which its run may have no part', async () => {
    const [going, over, other] = [await asking(), await ended(), await run.ledger.getRun(await run.conducted())]
    const { used } = await run.ledger.readProjectBudget(run.project)
    await run.ledger.setProjectBudget(run.project, { by: 'operator', tokens: used + 100_000 })
    await run.ledger.noteProjectBudget(going, undefined, { granted: 0, keep: 0 })
    const holders: number[] = []
    const model = scriptedModel([says(sound)])
    const complete: typeof model.complete = async (request) => {
      holders.push((await run.ledger.countSpent(other, { nowMs: Date.now() })).others)
      return model.complete(request)
    }
    for (const runId of [going, over]) {
      expect(await answering(runId, { model: { complete } })).toBe('over')
      expect((await endOf(runId)).end).toMatchObject({ answer: sound })
    }
    expect(holders).toEqual([expect.toSatisfy((held) => held > 2_000), expect.toSatisfy((held) => held > 2_000)])
    expect((await run.ledger.countSpent(other, { nowMs: Date.now(), sharers: 1 })).others).toBe(0)
    const late = await asking()
    expect([await answering(late, { model }), (await endOf(late)).end]).toEqual(['again', null]) // the other run has it all
    await run.ledger.setProjectBudget(run.project, { by: 'operator', tokens: null })
    expect(await answering(late, { model })).toBe('over')
  })

  it('counts for its project also where its process has died before it was counted', async () => {
    const runId = await ended()
    const before = (await run.ledger.readProjectBudget(run.project)).used
    const data = { ask_id: askId, error_code: 'POLICY_002', reason: 'no', prompt_tokens: 7, completion_tokens: 1 }
    const event = { event: 'ask.failed', phase: 'execution', origin: { kind: 'conductor', id: 'c1' }, data } as const
    await run.ledger.whileHolding(runId, 'answering', (_lost, token) => run.ledger.endAsk(runId, { token, event }))
    expect(await answering(runId)).toBe('over')
    expect((await run.ledger.readProjectBudget(run.project)).used - before).toBe(8)
  })
})
