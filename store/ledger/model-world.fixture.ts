import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { ErrorPolicyName } from '#domain/run.ts'
import { anEvent, aNewRun, aRequest, testLedger } from '#testing/open-test-ledger.ts'
import { openResendProxy } from '#testing/resend-proxy.ts'
import { newLedgerModel, openCount, withStatus } from './ledger-model.fixture.ts'
import { openLedger } from './ledger.ts'
import { ledgerSnapshot, modelSnapshot } from './model-snapshots.fixture.ts'
import { acts, type Act, type Prepared, type World } from './model-steps.fixture.ts'
import type { PlanSlice } from './plan.ts'
import { scriptSources } from './script-sources.fixture.ts'

/** A command and how it reaches the ledger: `lost` is the index of the Redis command whose answer gets lost. */
export type Step = { act: Act; pick: number; sent: 'once' | 'twice' | { lost: number } }

export type Worlds = {
  /** A run that has started and is to be planned. */
  begin(policy: ErrorPolicyName, slices: readonly PlanSlice[]): Promise<World>
  close(): Promise<void>
}

export async function openWorlds(): Promise<Worlds> {
  const test = await testLedger()
  // So that scripts are sent by their hash, once.
  for (const source of [...scriptSources().values()].flat()) await test.redis.script('LOAD', source)
  const proxy = await openResendProxy(test.redisUrl)
  const connection = new Redis(proxy.url, { retryStrategy: () => 0 })
  const cutOff = openLedger(connection, { namespace: test.namespace })
  return {
    async begin(policy, slices) {
      const run = aNewRun({ request: aRequest({ errorPolicy: policy }) })
      await test.ledger.createRun(run)
      await test.ledger.move(run.runId, {
        from: [{ status: 'queued' }],
        to: { status: 'running', phase: 'planning' },
        command: 'start',
        set: { snapshotId: 's1' },
        events: [anEvent({ event: 'run.started', phase: 'planning' })],
      })
      const model = newLedgerModel(policy)
      return { test, runId: run.runId, slices, model, jobs: [], writers: [], attempts: new Map(), cutOff, proxy }
    },
    async close() {
      await connection.quit()
      await proxy.close()
      await test.close()
    },
  }
}

/** Sends it to the model and to the ledger, and compares the answers and the operations' states. */
export async function take(world: World, { act, pick, sent }: Step): Promise<void> {
  const prepared = acts[act](world, pick)
  if (prepared === undefined) return
  if (typeof sent === 'object') await sendCutOff(world, prepared, sent.lost)
  else {
    for (let left = sent === 'twice' ? 2 : 1; left > 0; left -= 1) {
      const answer = await prepared.send(world.test.ledger)
      expect(answer).toEqual(prepared.expect())
    }
  }
  const { operations } = await world.test.ledger.listOperations(world.runId, { limit: 1_000 })
  const expected = [...world.model.operations.values()].map(({ id, status }) => `${id} ${status}`)
  expect(operations.map(({ operationId, status }) => `${operationId} ${status}`)).toEqual(expected)
}

async function sendCutOff(world: World, prepared: Prepared, place: number): Promise<void> {
  const watch = world.proxy.watch({ cutAt: place })
  const answer = await prepared.send(world.cutOff)
  world.proxy.watch()
  const isScript = watch.cuts > 0 && watch.commands[place]?.[0]?.startsWith('eval') === true
  // Another test may make the server forget its scripts.
  const wasCarriedOut = !watch.lost.startsWith('-NOSCRIPT')
  if (isScript && wasCarriedOut) prepared.expect()
  expect(answer).toEqual(prepared.expect())
}

/** Compares all there is to know of the run; the ledger's own check finds nothing. */
export async function compare(world: World): Promise<void> {
  expect(await ledgerSnapshot(world)).toEqual(modelSnapshot(world))
  expect((await world.test.ledger.verify(world.runId)).violations).toEqual([])
}

/** Plans what is not planned yet and lets the operations start. */
export async function planAll(world: World): Promise<void> {
  for (const { slice } of world.slices) await take(world, { act: 'plan', pick: slice, sent: 'once' })
  // A reopened run is discovered first.
  for (let moves = 0; moves < 2; moves += 1) await take(world, { act: 'move', pick: 0, sent: 'once' })
}

/** Brings the run to its end, as a recovered planner, dispatchers and workers would. */
export async function finish(world: World): Promise<void> {
  const { model } = world
  const once = (act: Act, pick = 0) => take(world, { act, pick, sent: 'once' })
  await planAll(world)
  for (let round = 0; openCount(model) > 0; round += 1) {
    if (round > maxRounds) throw new Error(`after ${maxRounds} rounds ${openCount(model)} operations are open`)
    await once('endSlice')
    await once('restEnds')
    await once('setAway', 1)
    await once('setBudget')
    await once('noteProject', 1)
    for (const pick of model.questions.keys()) await once('resume', pick)
    for (const pick of withStatus(model, 'waiting').keys()) await once('waitEnds', pick)
    await once('sweep')
    await once('dispatch', 3 + 4 * round)
    for (const pick of world.jobs.keys()) await once('claim', pick)
    for (const pick of world.writers.keys()) await once('settle', pick)
  }
  await once('relay')
}

const maxRounds = 50
