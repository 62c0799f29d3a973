import { z } from 'zod'
import { OperationResult } from './results.ts'
import { isEnded } from '#domain/run.ts'
import { type ModelOperation, openCount, placeOf, saidIn, withStatus } from './ledger-model.fixture.ts'
import type { World } from './model-steps.fixture.ts'

/** The model's state of the run, in the form that `ledgerSnapshot` gives for the ledger's. */
export function modelSnapshot({ model }: World): unknown {
  const idsOf = (...found: { id: string }[]) => found.map(({ id }) => id).toSorted()
  const ready = withStatus(model, 'ready')
  return {
    status: model.status,
    phase: model.phase,
    generation: model.generation,
    budget: [model.budget, model.tokens, ...[...model.over].map((of) => `${of} ${model.told.has(of)}`).toSorted()],
    stop: model.stop,
    open: openCount(model),
    operations: [...model.operations.values()].map(({ id, status, attempt, dispatch, lost, left }) => {
      return { id, status, attempt, dispatch, lost, left }
    }),
    sets: {
      ready: idsOf(...ready.filter((one) => placeOf(one) === 'ready')),
      delayed: idsOf(...ready.filter((one) => placeOf(one) === 'delayed')),
      suspects: idsOf(...ready.filter((one) => placeOf(one) === 'suspects')),
      held: idsOf(...ready.filter((one) => placeOf(one) === 'held')),
      dispatched: idsOf(...withStatus(model, 'dispatched')),
      leases: idsOf(...withStatus(model, 'running')),
      waiting: idsOf(...withStatus(model, 'waiting')),
      ended: model.ended.map(({ operationId }) => operationId).toSorted(),
      failed: idsOf(...withStatus(model, 'failed').filter(isCurrent)),
      blocked: idsOf(...withStatus(model, 'blocked').filter(isCurrent)),
    },
    failures: [...Map.groupBy(withStatus(model, 'failed', 'blocked').filter(isCurrent), ({ code = '' }) => code)]
      .map(([code, { length }]) => `${code} ${length} ${model.firstFailures.get(code)}`)
      .toSorted(),
    events: model.events.map(({ event, operationId = '', attempt = '', dispatch = '' }) => {
      return [event, operationId, attempt, dispatch].join(' ')
    }),
    questions: model.questions.map(({ requestId, operationId, status, answer }) => {
      return [requestId, operationId, status, saidIn(answer)].join(' ')
    }),
    results: model.ended.slice(0, model.published).map(({ operationId, status }) => `${operationId} ${status}`),
  }
}

const isCurrent = ({ supersededBy }: ModelOperation) => supersededBy === null

export async function ledgerSnapshot({ test, runId }: World): Promise<unknown> {
  const { ledger } = test
  const run = await ledger.getRun(runId)
  const { operations } = await ledger.listOperations(runId, { limit: 1_000 })
  const questions = await ledger.listQuestions(runId)
  const sets = ['ready', 'delayed', 'suspects', 'held', 'dispatched', 'leases', 'waiting', 'ended', 'failed', 'blocked']
  const members = await Promise.all(sets.map(async (set) => [set, await membersOf(test, runId, set)]))
  const { pending, ready, dispatched, running, waiting } = run.counts
  return {
    status: isEnded(run.status) ? 'ended' : run.status,
    phase: run.phase,
    generation: run.generation,
    budget: [run.budget, run.tokens, ...run.usedBudgets.map(({ of, holds }) => `${of} ${holds}`).toSorted()],
    stop: run.stop?.kind === 'request' ? { kind: 'request', letsFinish: run.stop.letsFinish } : run.stop,
    open: pending + ready + dispatched + running + waiting,
    operations: operations.map(({ operationId: id, status, attempt, dispatch, lost, dependenciesLeft: left }) => {
      return { id, status, attempt, dispatch, lost, left }
    }),
    sets: Object.fromEntries(members),
    failures: (await ledger.countFailures(run.runId))
      .map(({ errorCode, count, first }) => `${errorCode ?? ''} ${count} ${first.operationId}`)
      .toSorted(),
    events: await eventsOf({ test, runId }),
    questions: questions.map(({ requestId, operationId, status, answer }) => {
      return [requestId, operationId, status, saidIn(answer)].join(' ')
    }),
    results: await resultsOf({ test, runId }),
  }
}

type OfRun = Pick<World, 'test' | 'runId'>

async function membersOf({ redis, namespace }: World['test'], runId: string, set: string): Promise<string[]> {
  return (await redis.zrange(`${namespace}:{${runId}}:${set}`, '0', '-1')).toSorted()
}

const AttemptData = z.object({ attempt: z.int().optional() })
const QueuedData = z.object({ dispatch: z.int() })

/** Without the first two events, which creating and starting the run wrote. */
async function eventsOf({ test, runId }: OfRun): Promise<string[]> {
  const events = await test.ledger.readEvents(runId, { after: 2, limit: 10_000 })
  return events.map(({ event, operationId = '', data }) => {
    const { attempt = '' } = AttemptData.parse(data)
    const dispatch = event === 'operation.queued' ? QueuedData.parse(data).dispatch : ''
    return [event, operationId, attempt, dispatch].join(' ')
  })
}

async function resultsOf({ test, runId }: OfRun): Promise<string[]> {
  const entries = await test.redis.xrange(`${test.namespace}:results`, '-', '+')
  return entries.flatMap(([, [, run, , , , result = '']]) => {
    if (run !== runId) return []
    const { operation_id: id, status } = OperationResult.parse(JSON.parse(result))
    return [`${id} ${status}`]
  })
}
