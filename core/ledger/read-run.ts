import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { operationStatuses } from '#domain/operation.ts'
import { Run, runSchema } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { newerRun, unknownRun } from './refusal.ts'
import type { LedgerStore } from './store.ts'

const fields = [
  'schema',
  'project',
  'status',
  'phase',
  'request',
  'upload',
  'snapshot',
  'composition',
  'node_list',
  'edge_list',
  'rules',
  'plan_summary',
  'plan_hash',
  'planned',
  'bundles',
  'seq',
  'nodes',
  'files',
  'cancel',
  'cancel_reason',
  'cancel_by',
  'cancel_code',
  'stopped_by',
  'traceparent',
  'accepted',
  'ended',
  'error',
  'reason',
] as const
const count = z.coerce.number().default(0)

/** The run's state now. RUN_001 when there is no such run, RUN_005 when a newer version made it. */
export async function getRun(store: LedgerStore, runId: RunId): Promise<Run> {
  const counters = operationStatuses.map((status) => `n:${status}`)
  const values = await store.redis.hmget(runKeys(store.namespace, runId).run, ...fields, ...counters)
  const stored = (name: string) => values[[...fields, ...counters].indexOf(name)] ?? undefined
  const schema = stored('schema')
  if (schema === undefined) throw unknownRun(runId)
  if (Number(schema) > runSchema) throw newerRun(runId)
  const endedAt = stored('ended')
  return Run.parse({
    runId,
    schema: Number(schema),
    projectId: stored('project'),
    status: stored('status'),
    phase: stored('phase'),
    request: JSON.parse(stored('request') ?? 'null'),
    uploadKey: stored('upload'),
    snapshotId: stored('snapshot') ?? null,
    compositionKey: stored('composition') ?? null,
    nodeListKey: stored('node_list') ?? null,
    edgeListKey: stored('edge_list') ?? null,
    rulesKey: stored('rules') ?? null,
    planKey: stored('plan_summary') ?? null,
    planHash: stored('plan_hash') ?? null,
    isPlanned: stored('planned') === '1',
    bundleHashes: JSON.parse(stored('bundles') ?? 'null'),
    seq: count.parse(stored('seq')),
    nodes: count.parse(stored('nodes')),
    files: count.parse(stored('files')),
    stop: stopOf(stored),
    traceparent: stored('traceparent') || null,
    acceptedAt: count.parse(stored('accepted')),
    endedAt: endedAt === undefined ? null : Number(endedAt),
    errorCode: stored('error') ?? null,
    reason: stored('reason') ?? null,
    counts: Object.fromEntries(operationStatuses.map((status) => [status, count.parse(stored(`n:${status}`))])),
  })
}

function stopOf(stored: (name: string) => string | undefined): Run['stop'] {
  if (stored('cancel') !== '1') return null
  const operationId = stored('stopped_by')
  if (operationId !== undefined) return { kind: 'policy', operationId }
  const [reason, errorCode] = [stored('cancel_reason') ?? '', stored('cancel_code') ?? '']
  return errorCode === ''
    ? { kind: 'request', reason, by: stored('cancel_by') ?? '' }
    : { kind: 'fault', reason, errorCode }
}
