import { z } from 'zod'
import { endedOperationStatuses, type Operation, Outcome } from '#domain/operation.ts'
import { OperationId, type RunId } from '#domain/ids.ts'
import { resultKeys, runKeys } from './keys.ts'
import { plainScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const publishScript = plainScript('publish-results')
const jsonObjects = z.array(z.record(z.string(), z.unknown())).default([])

/** The part of a result that only the attempt knows, in its wire format (docs/guide/operations.md, "Results for other programs"). */
export const ResultDetail = z.strictObject({
  details: z.record(z.string(), z.unknown()).default({}),
  findings: jsonObjects,
  learnings: jsonObjects,
  artifacts: jsonObjects,
  evidence: jsonObjects,
})
export type ResultDetail = z.infer<typeof ResultDetail>

/** One entry of the results stream: how one operation ended, for other programs. `tokens` is prompt plus completion. */
export const OperationResult = ResultDetail.extend({
  run_id: z.string(),
  operation_id: z.string(),
  node_id: z.string(),
  agent: z.string(),
  status: z.enum(endedOperationStatuses),
  summary: z.string(),
  changed_files: z.array(z.string()),
  error: z
    .strictObject({ error_code: z.string(), phase: z.string().optional(), reason: z.string().optional() })
    .optional(),
  turns: z.int(),
  tokens: z.int(),
  duration_ms: z.number(),
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
})
export type OperationResult = z.infer<typeof OperationResult>

type ResultSource = { operation: Pick<Operation, 'runId' | 'operationId' | 'bundle'>; nodeId: string; outcome: Outcome }

/** Builds the entry from what the ledger knows and the attempt's detail. An operation that never ran has no detail. */
export function resultOf(source: ResultSource, detail: Partial<ResultDetail> = {}): OperationResult {
  const { operation, nodeId, outcome } = source
  const { errorCode, phase, reason } = outcome
  return OperationResult.parse({
    run_id: operation.runId,
    operation_id: operation.operationId,
    node_id: nodeId,
    agent: operation.bundle,
    status: outcome.status,
    summary: outcome.summary,
    changed_files: outcome.changedFiles,
    ...detail,
    error: errorCode === undefined ? undefined : { error_code: errorCode, phase, reason },
    turns: outcome.turns,
    tokens: outcome.promptTokens + outcome.completionTokens,
    duration_ms: outcome.durationMs,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
  })
}

const sliceEntries = 200
/** About 1.1 kB each: some 220 MB of Redis at most, of all runs together. */
const keptResults = 200_000

const OutboxEntry = z.tuple([
  z.string().regex(/^\d+-0$/),
  z.union([z.tuple([z.literal('o'), OperationId]), z.tuple([z.literal('o'), OperationId, z.literal('r'), z.string()])]),
])
type OutboxEntry = z.infer<typeof OutboxEntry>

/** Results that are not passed on yet. */
export async function outboxLength({ redis, namespace }: LedgerStore, runId: RunId): Promise<number> {
  return redis.xlen(runKeys(namespace, runId).outbox)
}

/**
 * Moves the run's results, in the order in which its operations ended, to the stream that other programs read. Redis
 * keeps the number of the last one of each run, so each is published once by any calls. Returns how many were new.
 */
export async function relayResults(store: LedgerStore, runId: RunId): Promise<number> {
  const { outbox, run } = runKeys(store.namespace, runId)
  const { results, published } = resultKeys(store.namespace)
  let added = 0
  for (;;) {
    const entries = z.array(OutboxEntry).parse(await store.redis.xrange(outbox, '-', '+', 'COUNT', sliceEntries))
    const last = entries.at(-1)
    if (last === undefined) return added
    const args = await Promise.all(entries.map((entry) => resultArgs(store, runId, entry)))
    const projectId = (await store.redis.hget(run, 'project')) ?? ''
    const count = await publishScript(
      store.redis,
      [results, published],
      [runId, projectId, keptResults, ...args.flat()],
    )
    added += z.int().parse(count)
    await store.redis.xtrim(outbox, 'MINID', seqOf(last[0]) + 1)
  }
}

async function resultArgs(store: LedgerStore, runId: RunId, entry: OutboxEntry): Promise<(string | number)[]> {
  const [id, [, operationId, , result]] = entry
  return [seqOf(id), operationId, result ?? (await bareResult(store, runId, operationId))]
}

/** The result of an operation that no worker ended: skipped, cancelled, lost. */
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
