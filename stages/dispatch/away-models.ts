import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { askedModel } from '#domain/agent-bundle.ts'
import { undefinedOn } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { type AwayModel, begunAt, type Run } from '#domain/run.ts'
import { asStored } from '#store/ledger/dispatch.ts'
import type { Fleet } from '#store/ledger/fleet.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import type { PinnedBundle } from '#stages/plan/pin-bundles.ts'

export type AwayModelsDeps = {
  ledger: Pick<Ledger, 'setAway' | 'blockHeld'>
  readBundles(projectId: ProjectId, hashes: readonly string[]): Promise<PinnedBundle[]>
  /** Lets every worker probe these models. */
  wantModels(models: readonly string[]): Promise<void>
  /** An operation waits so long for its model before it ends as blocked. */
  awayLimitMs: number
  log: Pick<Log, 'warn'>
}

export type AwayModels = ReturnType<typeof openAwayModels>

const everyMs = 1000
const maxBundles = 10_000

/** Tells the ledger which models of a run are away, by what all live workers report, and ends what waited for them too long. */
export function openAwayModels(deps: AwayModelsDeps) {
  const modelOf = new LRUCache<string, { name: string; model: string }>({ max: maxBundles })
  const lookedAt = new LRUCache<string, number>({ max: maxBundles })
  const bundlesOf = async ({ projectId, bundleHashes }: Run) => {
    const hashes = bundleHashes ?? []
    const missing = hashes.filter((hash) => !modelOf.has(hash))
    for (const { hash, bundle } of await deps.readBundles(projectId, missing)) {
      modelOf.set(hash, { name: bundle.file.name, model: askedModel(bundle.file.model) })
    }
    return hashes.flatMap((hash) => modelOf.get(hash) ?? [])
  }
  /** Acts at most once a second: every worker is to know what is waited for, and what waited too long ends. */
  const attend = async (run: Run) => {
    if (performance.now() - (lookedAt.get(run.runId) ?? -Infinity) < everyMs) return
    lookedAt.set(run.runId, performance.now())
    await deps.wantModels(run.away.map(({ model }) => model))
    for (const { model, since, bundles } of run.away) {
      const waitedMs = Date.now() - Math.max(since, begunAt(run))
      if (waitedMs <= deps.awayLimitMs) continue
      const reason = `no server of the model "${model}" has worked for ${Math.round(waitedMs / 1000)} s`
      for (const bundle of bundles) await deps.ledger.blockHeld(run.runId, { bundle, reason })
    }
  }
  return {
    /** Has to be called in every round. As long as the store is away, what the ledger knows of the run stays. */
    async note(run: Run, fleet: Fleet): Promise<void> {
      if (fleet.away.length === 0 && run.away.length === 0) return
      const bundles = await bundlesOf(run).catch(undefinedOn('STORE_002'))
      if (bundles === undefined) return
      const asking = bundles.filter(({ name }) => run.agentBundles?.includes(name) ?? true)
      const byModel = Map.groupBy(asking, ({ model }) => model)
      const away = asStored([...byModel].flatMap(([model, users]) => awayModel(model, users, { run, fleet }) ?? []))
      if (!isDeepStrictEqual(away, run.away)) {
        const message = away.length > 0 ? 'a run waits for models that are away' : 'the models of a run work again'
        deps.log.warn(message, { run_id: run.runId, away: away.map(({ model }) => model) })
        await deps.ledger.setAway(run.runId, away)
      }
      await attend({ ...run, away })
    },
  }
}

/** A model that was away stays so until a worker says that it works: after a restart of all workers none has judged it. */
function awayModel(
  model: string,
  bundles: readonly { name: string }[],
  { run, fleet }: { run: Run; fleet: Fleet },
): AwayModel | undefined {
  const isMeant = (away: { model: string }) => away.model === model
  const now = fleet.away.find(isMeant)
  const since = (run.away.find(isMeant) ?? now)?.since
  const mayWork = now === undefined && fleet.working.has(model)
  if (since === undefined || mayWork) return undefined
  return { model, since, bundles: bundles.map(({ name }) => name) }
}
