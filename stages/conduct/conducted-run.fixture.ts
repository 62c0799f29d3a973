import { onTestFinished } from 'vitest'
import type { ConductorState, InboxMessage } from '#domain/agenda.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import { loadBundles } from '#bundles/load-bundle.ts'
import { openModelPool } from '#models/model-pool.ts'
import { silentLog } from '#platform/log.ts'
import { startRehearsal } from '#rehearsal/rehearsal-server.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getBundle, putBundle } from '#store/objects/stored-records.ts'
import { anEvent, aNewRun, aRequest, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { stepRun, type StepDeps } from './step-run.ts'

/** A ledger and objects on real stores, the rehearsal model, and what the other services do for a run with an objective. */
export async function openConducting() {
  const [{ ledger, close: closeLedger }, s3] = [await testLedger(), await testObjects()]
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  const { objects, project } = s3
  const signal = AbortSignal.timeout(600_000)
  /** Decides by the policy of that name. `asked`: how often the model was asked since then. */
  async function conductor(policy: string, over: Partial<StepDeps> = {}, url = rehearsal.url) {
    const pool = openModelPool({ endpoints: [{ url }], requestTimeoutMs: 5_000, retryBudgetMs: 200, maxInFlight: 4 })
    onTestFinished(() => pool.close())
    const before = (await rehearsal.load()).asked
    const deps: StepDeps = {
      ledger,
      objects,
      model: pool,
      planner: async () => ({ model: `rehearsal/${policy}`, temperature: 0, toolChoice: 'required' }),
      plannerName: `rehearsal/${policy}`,
      bundle: (owner, hash) => getBundle(objects, owner, hash),
      awayLimitMs: 60_000,
      leaseMs: 30_000,
      origin: { kind: 'conductor', id: 'test' },
      log: silentLog,
      ...over,
    }
    return {
      deps,
      step: (runId: RunId) => stepRun(runId, deps, signal),
      asked: async () => (await rehearsal.load()).asked - before,
    }
  }

  const conducted = (request: Partial<RunRequest> = {}) => conductedRun({ ledger, objects, project }, request)

  /** Ends every item that is dispatched, as discovery does where it finds nothing to do. */
  async function endItems(runId: RunId): Promise<void> {
    for (;;) {
      const { conductor: state, generation } = await ledger.getRun(runId)
      const [next] = state?.kind === 'open' ? state.planning : []
      if (next === undefined) return
      const { item_id: itemId, version } = next
      const started = anEvent({ event: 'item.started', phase: 'execution', data: { item_id: itemId } })
      const item = { itemId, version, reads: 'r', objective: 'Do it well.', left: 0, started }
      await ledger.plan(runId, { slice: 0, operations: [], last: true, planHash: itemId, generation, item })
    }
  }

  const tell = (runId: RunId, message: InboxMessage, command: string) =>
    ledger.sendToConductor(runId, message, { command, origin: { kind: 'human', id: 'me' } })

  async function eventsOf(runId: RunId) {
    return ledger.readEvents(runId, { after: 0, limit: 100 })
  }

  async function agendaOf(runId: RunId) {
    const agenda = await ledger.readAgenda(runId)
    if (agenda === undefined) throw new Error(`run ${runId} has no agenda`)
    return agenda.state
  }

  const stateOf = async (runId: RunId): Promise<ConductorState | null> => (await ledger.getRun(runId)).conductor

  return {
    ledger,
    objects,
    project,
    conductor,
    conducted,
    endItems,
    tell,
    eventsOf,
    agendaOf,
    stateOf,
    async close() {
      await rehearsal.close()
      await s3.close()
      await closeLedger()
    },
  }
}

type ConductedStores = { ledger: Ledger; objects: ObjectStore; project: ProjectId }

/** A run that discovery has handed to its conductor. */
export async function conductedRun(
  { ledger, objects, project }: ConductedStores,
  request: Partial<RunRequest> = {},
): Promise<RunId> {
  const asked = aRequest({ objective: 'rm -rf / && be good', agents: ['lint', 'docstring'], ...request })
  const run = aNewRun({ projectId: project, request: asked })
  const loaded = await loadBundles('agents')
  const pinned = [...loaded].filter(([name]) => asked.agents.includes(name))
  const hashes = await Promise.all(pinned.map(([, { bundle }]) => putBundle(objects, project, bundle)))
  await ledger.createRun(run)
  await ledger.move(run.runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'execution' },
    command: 'start',
    set: { bundles: JSON.stringify(hashes), conductor: 'open', planned: '1' },
    events: [anEvent({ event: 'run.started', phase: 'planning' })],
  })
  return run.runId
}
