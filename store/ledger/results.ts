import { z } from 'zod'
import { endedOperationStatuses, type Operation, Outcome } from '#domain/operation.ts'
import { OperationId, type RunId } from '#domain/ids.ts'
import { resultKeys, runKeys } from './keys.ts'
import { plainScript } from './script.ts'
import type { LedgerStore } from './store.ts'
import { dayOf, type OperationUsage, usageArgs, usageKeptS } from './usage.ts'

const publishScript = plainScript('publish-results')
const jsonObjects = z.array(z.record(z.string(), z.unknown())).default([])

/** The part of a result that only the attempt knows, in its wire format (docs/guide/operations.md, "Results for other programs"). */
export const ResultDetail = z.strictObject({
  details: z.record(z.string(), z.unknown()).default({}),
  findings: jsonObjects,
  artifacts: jsonObjects,
  evidence: jsonObjects,
})
export type ResultDetail = z.infer<typeof ResultDetail>

/** One entry of the results stream: how one operation ended, for other programs. `tokens` is prompt plus completion. */
export const OperationResult = ResultDetail.extend({
  run_id: z.string(),
  operation_id: z.string(),
  generation: z.int().min(1),
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
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  duration_ms: z.number(),
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
})
export type OperationResult = z.infer<typeof OperationResult>

type ResultSource = {
  operation: Pick<Operation, 'runId' | 'operationId' | 'generation' | 'bundle'>
  nodeId: string
  outcome: Outcome
}

/** Builds the entry from what the ledger knows and the attempt's detail. An operation that never ran has no detail. */
export function resultOf(source: ResultSource, detail: Partial<ResultDetail> = {}): OperationResult {
  const { operation, nodeId, outcome } = source
  const { errorCode, phase, reason } = outcome
  return OperationResult.parse({
    run_id: operation.runId,
    operation_id: operation.operationId,
    generation: operation.generation,
    node_id: nodeId,
    agent: operation.bundle,
    status: outcome.status,
    summary: outcome.summary,
    changed_files: outcome.changedFiles,
    ...detail,
    error: errorCode === undefined ? undefined : { error_code: errorCode, phase, reason },
    turns: outcome.turns,
    tokens: outcome.promptTokens + outcome.completionTokens,
    prompt_tokens: outcome.promptTokens,
    completion_tokens: outcome.completionTokens,
    duration_ms: outcome.durationMs,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
  })
}

const sliceEntries = 200
/** A result has about 1.1 kB: those of all runs together take some 220 MB of Redis at most. */
const keptResults = 200_000

const OutboxEntry = z.tuple([
  z.string().regex(/^\d+-0$/),
  z.union([z.tuple([z.literal('o'), OperationId]), z.tuple([z.literal('o'), OperationId, z.literal('r'), z.string()])]),
])
type OutboxEntry = z.infer<typeof OutboxEntry>

export async function outboxLength({ redis, namespace }: LedgerStore, runId: RunId): Promise<number> {
  return redis.xlen(runKeys(namespace, runId).outbox)
}

/** Says how an operation ended that no worker ended: skipped, cancelled, lost too often, not answered in time, its model away. */
export type BareEnd = Pick<OperationResult, 'agent' | 'status' | 'error'>

/** Moves the run's results to the stream, each once by any calls; returns how many. `noteBare`: no worker ended it. */
export async function relayResults(store: LedgerStore, runId: RunId, noteBare: (end: BareEnd) => void = () => {}) {
  const { outbox, run } = runKeys(store.namespace, runId)
  const { results, published, usageOf } = resultKeys(store.namespace)
  let added = 0
  for (;;) {
    const entries = z.array(OutboxEntry).parse(await store.redis.xrange(outbox, '-', '+', 'COUNT', sliceEntries))
    const last = entries.at(-1)
    if (last === undefined) return added
    const rows = await Promise.all(entries.map((entry) => resultIn(store, runId, entry)))
    const args = rows.flatMap(({ seq, operationId: id, json }) => [seq, id, json, ...usageArgs(usageOfResult(json))])
    const projectId = (await store.redis.hget(run, 'project')) ?? ''
    const keys = [results, published, usageOf(projectId, dayOf(Date.now()))]
    const answer = await publishScript(store.redis, keys, [runId, projectId, keptResults, usageKeptS, ...args])
    const count = z.int().min(0).parse(answer)
    // What was published before, by another process, comes first.
    for (const { bare } of rows.slice(rows.length - count)) if (bare !== undefined) noteBare(bare)
    added += count
    await store.redis.xtrim(outbox, 'MINID', seqOf(last[0]) + 1)
  }
}

function usageOfResult(json: string): OperationUsage {
  const used = OperationResult.parse(JSON.parse(json))
  const { agent, turns, prompt_tokens: promptTokens, completion_tokens: completionTokens } = used
  const proposed = used.change_set_ids?.length ?? (used.change_set_id === undefined ? 0 : 1)
  return { agent, turns, promptTokens, completionTokens, durationMs: used.duration_ms, proposed }
}

type FoundResult = { seq: number; operationId: OperationId; json: string; bare?: BareEnd }

async function resultIn(store: LedgerStore, runId: RunId, entry: OutboxEntry): Promise<FoundResult> {
  const [id, [, operationId, , json]] = entry
  const seq = seqOf(id)
  if (json !== undefined) return { seq, operationId, json }
  const bare = await bareResult(store, runId, operationId)
  return { seq, operationId, json: JSON.stringify(bare), bare }
}

async function bareResult(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<OperationResult> {
  const key = runKeys(store.namespace, runId).operation(operationId)
  const [bundle, nodeId, outcome, generation] = z
    .tuple([z.string(), z.string(), z.string(), z.string().nullable()])
    .parse(await store.redis.hmget(key, 'bundle', 'nid', 'outcome', 'gen'))
  const operation = { runId, operationId, generation: Number(generation ?? 1), bundle }
  return resultOf({ operation, nodeId, outcome: Outcome.parse(JSON.parse(outcome)) })
}

function seqOf(id: string): number {
  return Number.parseInt(id, 10)
}
