import { describe, expect, it } from 'vitest'
import { ModelUnavailable } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
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

async function answering(runId: RunId, over: Partial<AnswerDeps> = {}) {
  const { deps } = await run.conductor('basic')
  const chat = async () => ({ model: 'rehearsal', temperature: 0, toolChoice: 'required' as const })
  return answerAsk(runId, askId, { ...deps, ledger: run.ledger, chat, ...over }, signal)
}

const says = (details: object) => [call('submit_result', { status: 'success', summary: 'It ended.', details })]
const sound = { text: 'It has not ended.', events: [2], paths: [], findings: [] }
const unfounded = { ...sound, paths: ['no/such/file.py'] }

async function endOf(runId: RunId) {
  const [ask] = await run.ledger.readAsks(runId)
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
    expect(end).toMatchObject({ kind: 'answered', answer: sound, model: 'scripted', seq: events[1]?.seq })
    const [received, answered] = events
    expect(answered).toMatchObject({ event: 'ask.answered', causationSeq: received?.seq, data: { answer: sound } })
    expect(await run.ledger.getRun(runId)).toMatchObject({ tokensIn: 10, tokensOut: 2 })
    expect((await run.ledger.readProjectBudget(run.project)).used - before).toBe(12)
  })

  it('is answered after the end of the run, too, and the rehearsal model says that it has read nothing', async () => {
    const runId = await run.conducted()
    await (await run.conductor('none')).step(runId)
    const ended = await run.ledger.getRun(runId)
    const origin = { kind: 'human', id: 'me' } as const
    await run.ledger.cancel(runId, { reason: 'enough', origin })
    await run.ledger.receiveAsk(runId, { askId, text: 'Why?', by: 'me', phase: ended.phase, origin })
    expect(await answering(runId)).toBe('over')
    expect((await endOf(runId)).end).toMatchObject({ answer: { text: expect.stringContaining('(no LLM)') } })
    expect((await run.ledger.verify(runId)).violations).toEqual([])
  })

  it.for<[what: string, replies: ScriptedReply[], end: object]>([
    ['once is explained to the model', [says(unfounded), says(sound)], { kind: 'answered', answer: sound }],
    ['twice is no answer', [says(unfounded)], { kind: 'failed', code: 'POLICY_002' }],
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
    expect((await endOf(runId)).end).toMatchObject({ kind: 'failed', code: 'POLICY_001' })
  })

  it('is not asked of a model where the budget of the run has too little left', async () => {
    const runId = await asking('Why?', { budget: { tokens: 100 } })
    const model = scriptedModel([says(sound)])
    expect(await answering(runId, { model })).toBe('over')
    expect((await endOf(runId)).end).toMatchObject({ kind: 'failed', code: 'LIMIT_004' })
    expect(model.requests).toEqual([])
  })

  it('is answered by one process at a time', async () => {
    const runId = await asking()
    const other = await run.ledger.whileAnswering(runId, () => answering(runId))
    expect([other, (await endOf(runId)).end]).toEqual(['again', null])
  })
})
