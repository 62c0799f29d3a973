import { Readable } from 'node:stream'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Verdict } from '#domain/decision.ts'
import { unreachable } from '#domain/error.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { MemoryGate } from '#ledger/memory-gate.ts'
import { type Conflict, type ConflictingSet, conflictView } from '#objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { NothingDecided } from '../http/problem.ts'
import { findRun } from '../runs/run-view.ts'
import { changeEndpoints, type DecisionsBody } from './change-endpoints.ts'
import { decide, type DecideDeps, type Decided, type DecidedSet, type Refusal, shownRefusals } from './decide.ts'
import type { DecidedCounts, DecisionsView, RefusedView, WantedVerdict } from './decision-schema.ts'
import { findPatch, type PatchDeps, withoutPatch } from './find-patch.ts'
import type { WantedDecision } from './judge-decisions.ts'
import { archiveOf, compositionId } from './result-archive.ts'
import { type ChangeDeps, changesOfOperation, decisionView, findChanges, listChanges, patchOf } from './run-changes.ts'

export type ChangeRouteDeps = ChangeDeps &
  DecideDeps &
  PatchDeps & {
    ledger: ChangeDeps['ledger'] & DecideDeps['ledger'] & PatchDeps['ledger']
    memoryGate: MemoryGate
  }

/** Serves the change sets of a run with what was decided on them, takes decisions, and serves the composed patch. */
export function changeRoutes(deps: ChangeRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(changeEndpoints.list, async (c) => {
    const { operation_id: operationId, cursor, limit, ...filter } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    if (operationId !== undefined) {
      return c.json({ changes: await changesOfOperation(run, operationId, deps), next: null }, 200)
    }
    return c.json(await listChanges(run, { cursor, limit, filter }, deps), 200)
  })
  routes.openapi(changeEndpoints.decide, async (c) => {
    await deps.memoryGate()
    const { projectId, tokenId } = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, projectId, deps.ledger)
    const wanted = await wantedIn(c.req.valid('json'), run, deps)
    const decided = await decide(run, wanted, { by: { kind: 'human', id: tokenId }, deps })
    return c.json(decisionsView(run, decided), 200)
  })
  routes.openapi(changeEndpoints.patch, async (c) => {
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const composition = await findPatch(run, c.req.valid('query').of, deps, c.req.raw.signal)
    const parts = patchOf(composition, (hash) => deps.records.readBlob(run.projectId, hash))
    const first = await parts.next() // when a blob of the first file is missing, the answer can still be a problem
    if (first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'text/x-diff',
      'content-disposition': `attachment; filename="${run.runId}.patch"`,
    })
  })
  routes.openapi(changeEndpoints.archive, async (c) => {
    const { of, ...choice } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const isSnapshot = choice.files === 'all' && choice.side === 'before'
    const composition = isSnapshot ? { files: [] } : await findPatch(run, of, deps, c.req.raw.signal)
    const parts = archiveOf({ composition, ...(await treeOf(run, deps)) }, choice)
    const first = await parts?.next()
    if (parts === null || first === undefined || first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="${run.runId}.tar.gz"`,
      'remora-composition': compositionId(composition),
    })
  })
  return routes
}

/** What a run has changed. RUN_006 or RUN_007 while there is no snapshot of it, or when it ended before there was one. */
async function treeOf(run: Run, { records }: ChangeDeps) {
  const { projectId, snapshotId } = run
  if (snapshotId === null) throw withoutPatch(run)
  const readBlob = (hash: string) => records.readBlob(projectId, hash)
  return { snapshot: await records.readSnapshot(projectId, snapshotId), readBlob }
}

const verdicts: Readonly<Record<WantedVerdict, Verdict>> = { accept: 'accepted', reject: 'rejected', undo: 'pending' }

async function wantedIn(
  { decisions, where, verdict, reason }: DecisionsBody,
  run: Run,
  deps: ChangeDeps,
): Promise<WantedDecision[]> {
  if (decisions !== undefined) {
    return decisions.map((one) => ({
      changeSetId: one.change_set_id,
      verdict: verdicts[one.verdict],
      reason: one.reason ?? reason ?? null,
      version: one.version,
    }))
  }
  if (where === undefined || verdict === undefined) return [] // the schema lets no such body in
  const found = await findChanges(run, where, deps)
  const same = { verdict: verdicts[verdict], reason: reason ?? null }
  return [...found].map(([changeSetId, version]) => ({ changeSetId, version, ...same }))
}

const shownDecisions = 1_000

/** NothingDecided, with the first refusal's code, when there is nothing else. */
function decisionsView({ runId }: Pick<Run, 'runId'>, { decisions, refused }: Decided): DecisionsView {
  const [first] = refused
  const shown = refused.slice(0, shownRefusals).map(refusedView)
  if (first !== undefined && decisions.size === 0) {
    throw new NothingDecided({ code: first.errorCode, detail: detailOf(first) }, { shown, count: refused.length })
  }
  return {
    run_id: runId,
    made: [...decisions.values()].filter(({ isMade }) => isMade).length,
    by_agent: countsByAgent([...decisions.values()], refused),
    decisions: [...decisions].slice(0, shownDecisions).map(([id, { operation, isMade, was, decision }]) => ({
      change_set_id: id,
      ...authorView(operation),
      verdict: decision?.verdict ?? 'pending',
      made: isMade,
      was,
      decision: decision && decisionView(decision),
    })),
    refused_count: refused.length,
    refused: shown,
  }
}

function countsByAgent(decided: readonly DecidedSet[], refused: readonly Refusal[]): Record<string, DecidedCounts> {
  const counts = new Map<string, DecidedCounts>()
  const countsOf = ({ bundle }: Pick<Operation, 'bundle'>) =>
    getOrMake(counts, bundle, () => ({ made: 0, before: 0, refused: 0 }))
  for (const { operation, isMade } of decided) countsOf(operation)[isMade ? 'made' : 'before'] += 1
  for (const { operation } of refused) if (operation !== undefined) countsOf(operation).refused += 1
  return Object.fromEntries(counts)
}

function authorView({ operationId, bundle, node }: Operation) {
  return { operation_id: operationId, agent: bundle, path: node.path, qualified_name: node.qualifiedName }
}

function refusedView(refusal: Refusal): RefusedView {
  const { changeSetId, operation, errorCode, conflict, decision } = refusal
  return {
    change_set_id: changeSetId,
    ...(operation === undefined ? {} : authorView(operation)),
    error_code: errorCode,
    detail: detailOf(refusal),
    ...(conflict === undefined ? {} : { conflict: conflictView(conflict) }),
    ...(decision === undefined ? {} : { decision: decisionView(decision) }),
  }
}

function detailOf({ changeSetId, errorCode, conflict, decision }: Refusal): string {
  switch (errorCode) {
    case 'RUN_004':
      return `Neither the run nor one that it retries has a change set "${changeSetId}".`
    case 'WORK_003':
      return decision === undefined
        ? `Nobody has decided on ${changeSetId} any more.`
        : `${decision.by} has decided otherwise on ${changeSetId}: it is ${decision.verdict}.`
    case 'WORK_001':
    case 'WORK_004':
      return `${nameOf(conflict, changeSetId)} cannot be accepted: ${conflict?.reason ?? ''}${placeOf(conflict)}`
    default:
      return unreachable(errorCode)
  }
}

function nameOf(set: ConflictingSet | undefined, changeSetId: string): string {
  const node = set?.node
  return node === undefined ? changeSetId : `${set?.agent ?? ''} ${node.path} ${node.qualifiedName} (${changeSetId})`
}

/** Where the conflict is, and with what that is accepted. */
function placeOf(conflict: Conflict | undefined): string {
  if (conflict === undefined) return ''
  const { path, lines, with: other } = conflict
  const at = lines === undefined ? path : `${path}:${lines.first}-${lines.last}`
  return other === undefined ? ` (${at})` : ` (${at}), with ${nameOf(other, other.changeSetId)}, which is accepted`
}

function streamOf(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): ReadableStream {
  async function* all() {
    yield first
    yield* rest
  }
  return Readable.toWeb(Readable.from(all()))
}
