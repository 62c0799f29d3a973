import { plannedOperation, storeNodes, submitRun } from '../../played-run.fixture.ts'
import type { TestApi } from '../../app.fixture.ts'
import { putAttemptRecord, putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { aConversation, anAskingRecord, anEndedRecord } from './transcript.fixture.ts'

const { operationId } = plannedOperation('total')

export const addressOf = (runId: string, id = operationId) => `/v1/runs/${runId}/operations/${id}/transcript`

type Claimed = Extract<Awaited<ReturnType<TestApi['ledger']['claim']>>, { kind: 'claimed' }>['attempt']

type Counts = Partial<Record<'messages' | 'exchanges' | 'tools', number>>

/** What the one operation of a run may say and do. */
export function conversationsOn(api: TestApi) {
  return { underWay, dispatched, started, ended, settle, say, next, lost, ask, answered }

  /** A run whose one operation is under way, and its attempt. */
  async function underWay(): Promise<{ runId: string; attempt: Claimed }> {
    const run = await dispatched()
    return { runId: run.runId, attempt: await started(run) }
  }

  async function started({ runId, dispatch }: { runId: string; dispatch: number }): Promise<Claimed> {
    const answer = await api.ledger.claim({ runId, operationId, dispatch }, 'a token')
    if (answer.kind !== 'claimed') throw new Error(`the operation is ${answer.kind}`)
    return answer.attempt
  }

  async function dispatched(): Promise<{ runId: string; dispatch: number }> {
    const runId = await submitRun(api)
    const operation = plannedOperation('total')
    const from = [{ status: 'queued' as const }, { status: 'running' as const }]
    const move = (to: { status?: 'running'; phase: 'planning' | 'execution' }) =>
      api.ledger.move(runId, { from, to, command: to.phase, events: [anEvent()] })
    await move({ status: 'running', phase: 'planning' })
    await storeNodes(api, runId, [operation.node])
    await api.ledger.plan(runId, { slice: 0, operations: [operation], last: true })
    await move({ phase: 'execution' })
    const [taken] = (await api.ledger.dispatch(runId, 1)).taken
    if (taken === undefined) throw new Error('nothing was dispatched')
    return { runId, dispatch: taken.dispatch }
  }

  /** A run whose one operation ended with the record of the fixture. */
  async function ended(): Promise<{ runId: string; recordHash: string }> {
    const { runId, attempt } = await underWay()
    return { runId, recordHash: await settle(attempt) }
  }

  /** Ends the attempt with the record of the fixture, and returns the name of that. */
  async function settle(of: Claimed): Promise<string> {
    const record = { ...anEndedRecord(), runId: of.runId, attempt: of.attempt }
    const recordHash = await putAttemptRecord(api.objects, api.project, record)
    await api.ledger.settle(of, 9, { outcome: { ...record.outcome, recordHash }, events: [] })
    return recordHash
  }

  /** Has the attempt say this much of the fixture's conversation, from where it was. */
  async function say(attempt: Claimed, n: number, to: Counts, from: Counts = {}): Promise<void> {
    const part = (name: keyof Counts) => aConversation[name].slice(from[name] ?? 0, to[name] ?? 0)
    const after = { messages: from.messages ?? 0, exchanges: from.exchanges ?? 0, tools: from.tools ?? 0 }
    const said = { messages: part('messages'), exchanges: part('exchanges'), tools: part('tools') }
    const talk = { startedAt: Date.UTC(2026, 0, 2, 3, 4, 5), after, ...said }
    await api.ledger.append(attempt, n, { events: [], talk })
  }

  async function next(runId: string): Promise<Claimed> {
    const [taken] = (await api.ledger.dispatch(runId, 1)).taken
    const answer = taken && (await api.ledger.claim({ runId, ...taken }, `token ${taken.dispatch}`))
    if (answer?.kind !== 'claimed') throw new Error('nothing was claimed')
    return answer.attempt
  }

  /** Loses the worker, and returns the next attempt. */
  async function lost(runId: string): Promise<Claimed> {
    await api.ledger.sweep(runId, 'abandoned')
    return next(runId)
  }

  /** Has the attempt ask the question of the fixture, and returns the name of its record. */
  async function ask(attempt: Claimed, n: number): Promise<string> {
    const record = { ...anAskingRecord(), runId: attempt.runId, attempt: attempt.attempt }
    const recordHash = await putUnfinishedAttempt(api.objects, api.project, record)
    const spent = { turns: 1, promptTokens: 1200, completionTokens: 40, durationMs: 700 }
    const { question } = record
    if (question === null) throw new Error('the fixture asks nothing')
    await api.ledger.suspend(attempt, n, { question, answerWithinMs: 60_000, recordHash, spent, events: [] })
    return recordHash
  }

  /** Answers the question, and returns the next attempt. */
  async function answered(runId: string): Promise<Claimed> {
    const by = { kind: 'human', id: 'me' } as const
    await api.ledger.resume(runId, { requestId: 'q1', text: 'yes', by, command: 'that' })
    return next(runId)
  }
}
