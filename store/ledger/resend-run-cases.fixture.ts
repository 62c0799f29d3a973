import { newRunId, type RunId } from '#domain/ids.ts'
import { Publication } from '#domain/publication.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation, endRun, type TestLedger } from '#testing/open-test-ledger.ts'
import { forgetRun } from './retention.ts'
import { indexKeys } from './keys.ts'
import { endLease } from './lease.ts'
import { keepAccepted } from './usage.ts'
import { openPutPermit } from './collection-window.ts'
import { expectUsableRedis } from './redis-check.ts'
import {
  child,
  origin,
  root,
  startedAttempt,
  stopRun,
  type Client,
  type PreparedCommand,
  type ResendCase,
} from './resend-case.fixture.ts'

async function created(test: TestLedger): Promise<RunId> {
  const run = aNewRun()
  await test.ledger.createRun(run)
  return run.runId
}

const createRun: ResendCase['prepare'] = async () => {
  const run = aNewRun()
  return { runId: run.runId, send: ({ ledger }) => ledger.createRun(run) }
}

const relay: ResendCase['prepare'] = async (test) => {
  const attempt = await startedAttempt(test, [root, child])
  await test.ledger.settle(attempt, 1, { outcome: anOutcome({ status: 'failed' }), events: [] })
  return { runId: attempt.runId, send: ({ ledger }) => ledger.relayResults(attempt.runId), again: 0 }
}

const keep: ResendCase['prepare'] = async (test) => {
  const { runId, send } = await relay(test)
  await send(test)
  const { projectId } = await test.ledger.getRun(runId)
  return { runId, send: (client) => keepAccepted(client, { projectId, runId }) }
}

async function decide(test: TestLedger, wanted: { retry?: true } = {}): Promise<PreparedCommand> {
  const { runId, operationId, node, bundle: agent } = await startedAttempt(test, [root, child])
  const set = { changeSetId: 'c1', operationId, recordHash: 'r', node, agent }
  const said = wanted.retry === undefined ? {} : ({ reason: 'too long', retry: true } as const)
  const decisions = [{ ...set, before: 'pending', verdict: 'rejected', reason: null, ...said }] as const
  const step = { last: 0, decisions, by: { kind: 'human', id: 't1' }, command: 'the-decision' } as const
  return { runId, send: ({ ledger }) => ledger.decide(runId, step) }
}

/** Of a run in review: what it repeats has ended. */
const planAgain: ResendCase['prepare'] = async (test) => {
  const attempt = await startedAttempt(test, [root])
  await test.ledger.settle(attempt, 1, { outcome: anOutcome(), events: [] })
  const { operationId } = root
  const repeated = { operationId, supersedes: operationId, changeSetIds: ['c1'] }
  const repeats = { ...repeated, because: 'collided' } as const
  const operations = [aPlannedOperation('again', { repeats })]
  const event = anEvent({ event: 'operations.repeated', phase: 'review' })
  const send = ({ ledger }: Client) => ledger.planAgain(attempt.runId, { operations, event, generation: 1 })
  return { runId: attempt.runId, send }
}

const ofRuns: readonly ResendCase[] = [
  {
    script: 'keep-watch',
    what: 'of a run that is watched',
    async prepare(test) {
      const runId = await test.executing([root])
      const events = [anEvent({ event: 'watcher.failed', phase: 'execution', origin: { kind: 'watcher', id: 'w1' } })]
      const questions = [{ after: 0, bundle: 'watcher', text: 'What now?', choices: ['continue'] }]
      const kept = { token: 'the-token', version: 1, state: { cursor: 3 }, events, questions }
      return { runId, send: ({ ledger }) => ledger.keepWatch(runId, kept) }
    },
  },
  {
    script: 'take-result',
    what: 'of an ended run',
    async prepare(test) {
      const runId = await test.executing([])
      await endRun(test.ledger, runId)
      const taker = { command: 'the-taker', by: 'human/t1' }
      return { runId, send: ({ ledger }) => ledger.takeResult(runId, taker) }
    },
  },
  { script: 'plan', what: 'of operations that repeat others', prepare: planAgain },
  { script: 'decide', what: 'on a change set', prepare: (test) => decide(test) },
  {
    script: 'note-patch',
    what: 'of accepted changes',
    async prepare(test) {
      const runId = await test.executing([root])
      const patch = { of: 'accepted', note: { decided: 7, compositionKey: 'c' } } as const
      return { runId, send: ({ ledger }) => ledger.notePatch(runId, patch), again: 'older' }
    },
  },
  {
    script: 'note-part',
    what: 'of a part of them',
    async prepare(test) {
      const runId = await test.executing([root])
      const note = { part: 'a'.repeat(64), decided: 7, compositionKey: 'c' }
      return { runId, send: ({ ledger }) => ledger.notePart(runId, note), again: 'older' }
    },
  },
  {
    script: 'note-publication',
    what: 'of a check run',
    async prepare(test) {
      const runId = await test.executing([root])
      const publication = Publication.parse({ isAsked: true })
      const events = [anEvent({ event: 'publication.opened', phase: 'publication' })]
      return { runId, send: ({ ledger }) => ledger.notePublication(runId, { publication, events }) }
    },
  },
  {
    script: 'reopen',
    what: 'of an ended run',
    async prepare(test) {
      const { runId, projectId } = await startedAttempt(test, [root])
      await stopRun(test, runId)
      await test.ledger.sweep(runId, 'abandoned')
      const change = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'stop', events: [] } as const
      await test.ledger.move(runId, change)
      const wanted = { operations: [root.operationId] }
      const how = { wanted, origin, command: 'the-retry' }
      return { runId, send: ({ ledger }) => ledger.reopen({ runId, projectId, generation: 1 }, how) }
    },
  },
  { script: 'decide', what: 'that asks for a retry', prepare: (test) => decide(test, { retry: true }) },
  { script: 'index-run', what: 'at the creation of a run', prepare: createRun },
  { script: 'create-run', what: 'at the creation of a run', prepare: createRun },
  { script: 'publish-results', what: 'for two results', prepare: relay },
  { script: 'keep-accepted', what: 'of a run whose results are published', prepare: keep },
  {
    script: 'move',
    what: 'to another phase',
    async prepare(test) {
      const runId = await created(test)
      const events = [anEvent({ event: 'run.started', phase: 'planning' })]
      const to = { status: 'running', phase: 'planning' } as const
      const change = { from: [{ status: 'queued' }], to, command: 'start', events } as const
      return { runId, send: ({ ledger }) => ledger.move(runId, change), again: 'already' }
    },
  },
  {
    script: 'move',
    what: 'to the end of the run',
    async prepare(test) {
      const runId = await test.executing([])
      const events = [anEvent({ event: 'run.failed', phase: 'execution' })]
      const change = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events } as const
      return { runId, send: ({ ledger }) => ledger.move(runId, change), again: 'already' }
    },
  },
  {
    script: 'plan',
    what: 'of the only slice',
    async prepare(test) {
      const runId = await created(test)
      const slice = { slice: 0, operations: [root, child], last: true }
      return { runId, send: ({ ledger }) => ledger.plan(runId, slice), again: 'already' }
    },
  },
  {
    script: 'cancel',
    what: 'of a run',
    async prepare(test) {
      const runId = await test.executing([root])
      return { runId, send: ({ ledger }) => ledger.cancel(runId, { reason: 'enough', origin }) }
    },
  },
  {
    script: 'cancel',
    what: 'of a run whose running operations were to finish',
    async prepare(test) {
      const { runId } = await startedAttempt(test, [root])
      await test.ledger.cancel(runId, { reason: 'newer push', origin, letFinish: true })
      return { runId, send: ({ ledger }) => ledger.cancel(runId, { reason: 'enough', origin }) }
    },
  },
  {
    script: 'end-slice',
    what: 'of all that has not started',
    async prepare(test) {
      const { runId } = await startedAttempt(test, [root, aPlannedOperation('other'), child])
      await stopRun(test, runId)
      return { runId, send: ({ ledger }) => ledger.endSlice(runId, 0) }
    },
  },
]

/** What is stored besides the runs; its keys get a run's name here, so that the states can be distinguished. */
const besideRuns: readonly ResendCase[] = [
  {
    script: 'forget-run',
    what: 'of an ended run',
    async prepare(test) {
      const runId = await test.executing([root, child])
      await test.settleAll(runId)
      const run = await test.ledger.getRun(runId)
      const change = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events: [] } as const
      await test.ledger.move(runId, change)
      return { runId, send: (client) => forgetRun(client, run) }
    },
  },
  {
    script: 'tell-events',
    what: 'of a new run',
    async prepare(test) {
      const runId = await created(test)
      return { runId, send: ({ ledger }) => ledger.tellEvents(runId), again: 0 }
    },
  },
  {
    script: 'trim-told',
    what: 'of a run that was told of before another',
    async prepare(test) {
      const runId = await created(test)
      await test.ledger.tellEvents(runId)
      await test.ledger.tellEvents(await created(test))
      return { runId, send: ({ ledger }) => ledger.trimTold({ most: 1, keepMs: 0 }) }
    },
  },
  {
    script: 'end-wanted',
    what: 'of a run',
    async prepare({ redis, namespace }) {
      const runId = newRunId(Date.now())
      await redis.zadd(indexKeys(namespace).retrying, 1, runId)
      return { runId, send: ({ ledger }) => ledger.endWanted({ runId, at: 1 }) }
    },
  },
  {
    script: 'lease',
    what: 'that ends',
    async prepare({ redis, namespace }) {
      const runId = newRunId(Date.now())
      const lease = { key: `${namespace}:{${runId}}:lease`, token: 'the-token' }
      await redis.set(lease.key, lease.token)
      return { runId, send: (client) => endLease(client.redis, lease) }
    },
  },
  {
    script: 'claim-format',
    what: 'of an empty store',
    async prepare({ namespace }) {
      const runId = newRunId(Date.now())
      return { runId, send: ({ redis }) => expectUsableRedis(redis, `${namespace}:{${runId}}:own`) }
    },
  },
  {
    script: 'put-permit',
    what: 'of a process',
    async prepare({ namespace }) {
      const runId = newRunId(Date.now())
      const send = ({ redis }: Client) => openPutPermit(redis, `${namespace}:{${runId}}:own`)(async () => {})
      return { runId, send }
    },
  },
]

export const runCases: readonly ResendCase[] = [...ofRuns, ...besideRuns]
