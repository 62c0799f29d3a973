import { z } from 'zod'
import { CodeNode } from '#domain/code-node.ts'
import type { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { OperationWork } from '#domain/operation.ts'
import { QuestionId } from '#domain/question.ts'
import { runKeys } from './keys.ts'
import { newerRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('claim')

/** One delivery's right to work on an operation, and all it needs to know. */
export type Attempt = {
  runId: RunId
  projectId: ProjectId
  operationId: OperationId
  dispatch: number
  /** What every write of the attempt is fenced by. */
  token: string
  /** Counts from 1 over the operation's life. */
  attempt: number
  bundle: string
  bundleHash: string
  node: CodeNode
  work: OperationWork
  snapshotId: string
  traceparent: string | null
  correlationId: string
  /** How often it was handed back because a store was away. */
  storeFaults: number
  /** Without an append within this time the operation counts as lost. */
  leaseMs: number
  /** The answer it was suspended for, and the record it goes on from; null for one that begins anew. */
  resumes: { recordHash: string; requestId: QuestionId; answer: string } | null
}

/** `gone`: ended, stale or stopped, there is nothing to do. `busy`: another delivery works on it, or did and is lost. */
export type ClaimAnswer = { kind: 'claimed'; attempt: Attempt } | { kind: 'gone' } | { kind: 'busy' }

export type DispatchedOperation = { runId: RunId; operationId: OperationId; dispatch: number }

const NodeText = z.string().transform((text) => CodeNode.parse(JSON.parse(text)))
const Reply = z.union([
  z.tuple([
    z.literal('claimed'),
    z.int(),
    z.string(),
    z.string(),
    NodeText,
    z.string(),
    z.string(),
    z.string(),
    z.int(),
    z.union([z.literal(''), QuestionId]),
    z.string(),
    z.string(),
    OperationWork,
  ]),
  z.tuple([z.literal('gone')]),
  z.tuple([z.literal('newer')]),
  z.tuple([z.literal('busy')]),
])

/**
 * Takes a dispatched operation. `token` is drawn per delivery; the same one again gives the same answer. One that runs is
 * left alone, also when its lease has run out: taking it back is `sweep`'s business, and it then comes with a later
 * dispatch. One of a stopped run is ended.
 */
export async function claim(store: LedgerStore, job: DispatchedOperation, token: string): Promise<ClaimAnswer> {
  const { runId, operationId, dispatch } = job
  const keys = runKeys(store.namespace, runId)
  const answer = await script(
    store.redis,
    [...keys.scripted, keys.operation(operationId), keys.node(operationId)],
    [operationId, dispatch, token, store.leaseMs, store.origin.kind, store.origin.id],
  )
  const reply = Reply.parse(answer)
  if (reply[0] === 'newer') throw newerRun(runId)
  if (reply[0] === 'gone') return { kind: 'gone' }
  if (reply[0] === 'busy') return { kind: 'busy' }
  const [, attempt, bundle, bundleHash, node, projectId, snapshotId, traceparent, ...rest] = reply
  const [storeFaults, requestId, recordHash, answered, work] = rest
  return {
    kind: 'claimed',
    attempt: {
      runId,
      projectId,
      operationId,
      dispatch,
      token,
      attempt,
      bundle,
      bundleHash,
      node,
      work,
      snapshotId,
      traceparent: traceparent === '' ? null : traceparent,
      correlationId: runId,
      leaseMs: store.leaseMs,
      storeFaults,
      resumes: requestId === '' ? null : { recordHash, requestId, answer: answered },
    },
  }
}
