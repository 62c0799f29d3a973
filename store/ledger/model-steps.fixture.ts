import { z } from 'zod'
import type { OperationId, RunId } from '#domain/ids.ts'
import { aCost, anEvent, anOutcome, type TestLedger } from '#testing/open-test-ledger.ts'
import type { ResendProxy } from '#testing/resend-proxy.ts'
import type { Attempt } from './attempt.ts'
import type { Taken } from './dispatch.ts'
import { pickFrom, withStatus, type LedgerModel } from './ledger-model.fixture.ts'
import type { Ledger } from './ledger.ts'
import {
  appendModel,
  blockHeldModel,
  cancelModel,
  claimModel,
  dispatchModel,
  endSliceModel,
  relayModel,
  releaseModel,
  requeueModel,
  setAwayModel,
  settleModel,
  sweepModel,
  tokensPerAppend,
  type ModelOutcome,
  type Write,
} from './model-commands.fixture.ts'
import { budgetActs } from './model-budgets.fixture.ts'
import { questionActs, questionFor, suspendModel } from './model-questions.fixture.ts'
import { planActs } from './model-planning.fixture.ts'
import { generationActs } from './model-generations.fixture.ts'
import type { PlanSlice } from './plan.ts'

/** One run in the model and in the ledger, and what its dispatchers and workers remember. */
export type World = {
  test: TestLedger
  runId: RunId
  slices: readonly PlanSlice[]
  model: LedgerModel
  /** Every job that was ever to be enqueued. */
  jobs: Taken[]
  /** Every attempt that was ever made. */
  writers: Write[]
  attempts: Map<string, Attempt>
  /** The same ledger, for a client that loses answers. */
  cutOff: Ledger
  proxy: ResendProxy
}

/** A command for the model and for the ledger. Doing both again stands for a command that was sent again. */
export type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

export const Act = z.enum([
  'plan',
  'planAgain',
  'move',
  'dispatch',
  'claim',
  'append',
  'settle',
  'release',
  'suspend',
  'resume',
  'setAway',
  'blockHeld',
  'setBudget',
  'noteProject',
  'cancel',
  'endSlice',
  'sweep',
  'abandon',
  'requeue',
  'relay',
  'end',
  'reopen',
  'leaseEnds',
  'restEnds',
  'waitEnds',
])
export type Act = z.infer<typeof Act>

/** A time in ms. */
const farAway = 9_000_000_000_000
const origin = { kind: 'discovery', id: 'test' } as const
const doing = { kind: 'slot', turn: 1, afterTool: false, sinceMs: 1 } as const
const anExchange = [
  anEvent({ event: 'model.requested' }),
  anEvent({
    event: 'model.responded',
    data: { turn: 1, prompt_tokens: tokensPerAppend - 1, completion_tokens: 1, reason: '"prompt_tokens":999' },
  }),
]
const outcomes: readonly ModelOutcome[] = [
  { status: 'succeeded' },
  { status: 'unchanged' },
  { status: 'failed', errorCode: 'AGENT_004' },
  { status: 'blocked', errorCode: 'AGENT_004' },
  { status: 'failed' },
  { status: 'cancelled' },
  { status: 'skipped' },
]

function learnJobs(world: World, jobs: readonly Taken[]): void {
  const known = new Set(world.jobs.map((job) => `${job.operationId} ${job.dispatch}`))
  world.jobs.push(...jobs.filter((job) => !known.has(`${job.operationId} ${job.dispatch}`)))
}

/** The next write of some attempt, or its last write repeated. */
function nextWrite(world: World, pick: number): { write: Write; attempt: Attempt } | undefined {
  const writer = pickFrom(world.writers, pick)
  const attempt = world.attempts.get(writer?.token ?? '')
  if (writer === undefined || attempt === undefined) return undefined
  if (pick % 5 > 0) writer.n += 1
  return { write: { ...writer }, attempt }
}

/** What some process does next. `pick` chooses the target, including late and stale ones. */
export const acts: Record<Act, (world: World, pick: number) => Prepared | undefined> = {
  ...planActs,
  ...generationActs,
  ...budgetActs,
  ...questionActs,
  dispatch(world: World, pick: number): Prepared {
    const { model, runId } = world
    const [max, command] = [pick % 4, `dispatch ${pick % 7}`]
    return {
      expect: () => dispatchModel(model, max, command),
      async send(ledger) {
        const { traceparent: _, ...answer } = await ledger.dispatch(runId, max, { command })
        learnJobs(world, answer.taken)
        const { taken, ready, dispatched, running, open } = answer
        return { taken, ready, dispatched, running, open }
      },
    }
  },
  claim(world: World, pick: number): Prepared | undefined {
    const { model, runId, writers, attempts } = world
    const job = pickFrom(world.jobs, pick)
    if (job === undefined) return undefined
    const token = `${job.operationId} ${job.dispatch} ${pick % 3}`
    return {
      expect: () => claimModel(model, job, token),
      async send(ledger) {
        const answer = await ledger.claim({ runId, ...job }, token)
        if (answer.kind !== 'claimed') return answer.kind
        if (!attempts.has(token)) writers.push({ operationId: job.operationId, token, n: 0 })
        attempts.set(token, answer.attempt)
        const { attempt, resumes: from } = answer.attempt
        const said = typeof from?.answer === 'object' ? from.answer?.verdict : from?.answer
        return `attempt ${attempt}${from === null ? '' : ` resumes with ${said}`}`
      },
    }
  },
  append(world: World, pick: number): Prepared | undefined {
    const next = nextWrite(world, pick)
    if (next === undefined) return undefined
    const { write, attempt } = next
    return {
      expect: () => appendModel(world.model, write),
      send: (ledger) => ledger.append(attempt, write.n, { events: [...anExchange, anEvent()], doing }),
    }
  },
  settle(world: World, pick: number): Prepared | undefined {
    const next = nextWrite(world, pick)
    if (next === undefined) return undefined
    const { write, attempt } = next
    const outcome = pickFrom(outcomes, pick) ?? { status: 'failed' }
    // The reason holds what the ledger finds an outcome's code by, and half a surrogate pair.
    const reason = 'said {"errorCode":"AGENT_999"} \ud800'
    const settlement = { outcome: anOutcome({ reason, ...outcome }), events: [anEvent()] }
    return {
      expect: () => settleModel(world.model, write, outcome),
      send: (ledger) => ledger.settle(attempt, write.n, settlement),
    }
  },
  release(world: World, pick: number): Prepared | undefined {
    const next = nextWrite(world, pick)
    if (next === undefined) return undefined
    const { write, attempt } = next
    const rests = pick % 2 === 0
    const handedBack = { reason: 'drain', events: [anEvent()], ...(rests ? { delayMs: 3_600_000 } : {}) } as const
    return {
      expect: () => releaseModel(world.model, write, rests),
      send: (ledger) => ledger.release(attempt, write.n, handedBack),
    }
  },
  suspend(world: World, pick: number): Prepared | undefined {
    const next = nextWrite(world, pick)
    if (next === undefined) return undefined
    const { write, attempt } = next
    const question = questionFor(pick)
    const suspension = {
      question,
      answerWithinMs: 3_600_000,
      recordHash: write.token,
      spent: aCost,
      events: [anEvent()],
    }
    return {
      expect: () => suspendModel(world.model, write, question),
      send: (ledger) => ledger.suspend(attempt, write.n, suspension),
    }
  },
  /** The model is away after an even pick, and back after an odd one. */
  setAway({ model, runId }: World, pick: number): Prepared {
    const away = pick % 2 === 0 ? [{ model: 'default', since: 1, bundles: ['lint'] }] : []
    return { expect: () => setAwayModel(model, away.length > 0), send: (ledger) => ledger.setAway(runId, away) }
  },
  blockHeld({ model, runId }: World): Prepared {
    const how = { bundle: 'lint', reason: 'its model was away for too long' }
    return { expect: () => blockHeldModel(model), send: (ledger) => ledger.blockHeld(runId, how) }
  },
  cancel({ model, runId }: World, pick: number): Prepared {
    const request = { reason: 'enough', origin, letFinish: pick % 2 === 1 }
    return { expect: () => cancelModel(model, request.letFinish), send: (ledger) => ledger.cancel(runId, request) }
  },
  endSlice({ model, runId }: World, pick: number): Prepared {
    const first = pick % (model.operations.size + 2)
    return { expect: () => endSliceModel(model, first), send: (ledger) => ledger.endSlice(runId, first) }
  },
  sweep({ model, runId }: World): Prepared {
    return { expect: () => sweepModel(model, 'lost'), send: (ledger) => ledger.sweep(runId) }
  },
  /** All workers were stopped at once. Their leases, still running, end at one time, so that their order is known. */
  abandon({ model, runId, test }: World): Prepared {
    const leases = withStatus(model, 'running').map(({ id }) => [farAway, id] as const)
    return {
      expect: () => sweepModel(model, 'abandoned'),
      async send(ledger) {
        const set = `${test.namespace}:{${runId}}:leases`
        if (leases.length > 0) await test.redis.zadd(set, 'XX', ...leases.flat())
        return ledger.sweep(runId, 'abandoned')
      },
    }
  },
  requeue(world: World, pick: number): Prepared {
    const { model, runId, jobs } = world
    const first = pick % Math.max(1, jobs.length)
    const lost = jobs.slice(first, first + 1 + (pick % 3))
    const command = `requeue ${pick % 5}`
    return {
      expect: () => requeueModel(model, lost, command),
      async send(ledger) {
        const answer = await ledger.requeue(runId, lost, command)
        learnJobs(world, answer)
        return answer
      },
    }
  },
  relay({ model, runId }: World): Prepared {
    return { expect: () => relayModel(model), send: (ledger) => ledger.relayResults(runId) }
  },
  /** Time passes: a worker has been silent for as long as its lease. */
  leaseEnds(world: World, pick: number): Prepared | undefined {
    const one = pickFrom(withStatus(world.model, 'running'), pick)
    if (one === undefined) return undefined
    return timePasses(world, 'leases', one.id, () => (one.leaseIsOver = true))
  },
  /** Time passes: the delays of operations that were handed back are over. */
  restEnds(world: World, pick: number): Prepared | undefined {
    const one = pickFrom(
      withStatus(world.model, 'ready').filter(({ rest }) => rest === 'resting'),
      pick,
    )
    if (one === undefined) return undefined
    return timePasses(world, 'delayed', one.id, () => (one.rest = 'over'))
  },
  /** Time passes: nobody has answered. */
  waitEnds(world: World, pick: number): Prepared | undefined {
    const one = pickFrom(
      world.model.questions.filter(({ status }) => status === 'open'),
      pick,
    )
    if (one === undefined) return undefined
    return timePasses(world, 'waiting', one.operationId, () => (one.timeIsOver = true))
  },
}

function timePasses({ test, runId }: World, set: string, id: OperationId, note: () => void): Prepared {
  const { redis, namespace } = test
  return {
    expect() {
      note()
      return 0
    },
    send: () => redis.zadd(`${namespace}:{${runId}}:${set}`, 'XX', 1, id),
  }
}
