import { z } from 'zod'
import { OperationId, type RunId } from '#domain/ids.ts'
import { Outcome } from '#domain/operation.ts'
import { resultKeys, runKeys } from './keys.ts'
import { resultOf } from './result.ts'
import { plainScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const publishScript = plainScript('publish-results')
const sliceEntries = 200
/** About 1.1 kB each: some 220 MB of Redis at most, of all runs together. */
const keptResults = 200_000

const OutboxEntry = z.tuple([
  z.string().regex(/^\d+-0$/),
  z.union([z.tuple([z.literal('o'), OperationId]), z.tuple([z.literal('o'), OperationId, z.literal('r'), z.string()])]),
])
type OutboxEntry = z.infer<typeof OutboxEntry>

/**
 * Moves the run's results, in the order its operations ended, to the stream other programs read. The stream remembers
 * the last one of each run, so doing it twice, or two at once, publishes each once. Returns how many were new.
 */
export async function relayResults(store: LedgerStore, runId: RunId): Promise<number> {
  const { outbox } = runKeys(store.namespace, runId)
  const { results, published } = resultKeys(store.namespace)
  let added = 0
  for (;;) {
    const entries = z.array(OutboxEntry).parse(await store.redis.xrange(outbox, '-', '+', 'COUNT', sliceEntries))
    const last = entries.at(-1)
    if (last === undefined) return added
    const args = await Promise.all(entries.map((entry) => resultArgs(store, runId, entry)))
    const count = await publishScript(store.redis, [results, published], [runId, keptResults, ...args.flat()])
    added += z.int().parse(count)
    await store.redis.xtrim(outbox, 'MINID', seqOf(last[0]) + 1)
  }
}

async function resultArgs(store: LedgerStore, runId: RunId, entry: OutboxEntry): Promise<(string | number)[]> {
  const [id, [, operationId, , result]] = entry
  return [seqOf(id), operationId, result ?? (await bareResult(store, runId, operationId))]
}

/** The result of an operation that ended without a worker saying so: skipped, cancelled, lost. */
async function bareResult(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<string> {
  const key = runKeys(store.namespace, runId).operation(operationId)
  const [bundle, nodeId, outcome] = z
    .tuple([z.string(), z.string(), z.string()])
    .parse(await store.redis.hmget(key, 'bundle', 'nid', 'outcome'))
  const operation = { runId, operationId, bundle }
  return JSON.stringify(resultOf({ operation, nodeId, outcome: Outcome.parse(JSON.parse(outcome)) }))
}

function seqOf(id: string): number {
  return Number.parseInt(id, 10)
}
