import type { CodeNode, Edge, SkippedFile } from '#domain/code-node.ts'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { changeSetId, nodeId, operationId, sha256 } from '#domain/ids.ts'
import type { NewEvent } from '#domain/event.ts'
import { originalId, type Outcome, type PlannedOperation } from '#domain/operation.ts'
import { nextRecord, planReopened } from '#testing/open-test-ledger.ts'
import type { AskedQuestion } from '#domain/question.ts'
import type { ComposedFile, Composition } from '#store/objects/composition.ts'
import { putEdgeList } from '#store/objects/edge-list.ts'
import { putNodeList } from '#store/objects/node-list.ts'
import { type PlanSummary, putPlanSummary } from '#store/objects/plan-summary.ts'
import { type SnapshotFile, type SnapshotLink, writeSnapshot } from '#store/objects/snapshot.ts'
import { putAttemptRecord, putComposition } from '#store/objects/stored-records.ts'
import { type PlayedFinding, recordOf, reportingRun } from './played-record.fixture.ts'
import { anEvent } from '#testing/an-event.ts'
import { runForm, tarOf, type TestApi } from './app.fixture.ts'

/** How one operation of a played run ends. */
export type PlayedEnding =
  /**
   * `builtOn`: the names of others that its change set is built on, with all that these are built on; of other runs, the ids of sets.
   * `agent`: whose the set is, instead of `lint`.
   */
  | { name: string; changes: FileChange[]; builtOn?: string[]; agent?: string }
  | { name: string; fails: { code: string; reason: string } }
  /** Changes nothing, for the reason that its summary says. */
  /** `finds`: claims about `a.py`. */
  | { name: string; leaves: string; finds?: PlayedFinding[] }
  | { name: string; asks: AskedQuestion }

/** The files of a snapshot by path; a link has its target. Without a tree the run has no snapshot. */
export type PlayedTree = Readonly<
  Record<string, string | { content: string | Uint8Array; executable: boolean } | { target: string }>
>

/** Accepts a run and plays the services that would work on it, with everything they store. Returns its id. */
export async function playRun(
  api: TestApi,
  endings: readonly PlayedEnding[],
  { tree }: { tree?: PlayedTree } = {},
): Promise<string> {
  const runId = await submitRun(api)
  await playOperations(api, runId, endings, tree)
  return runId
}

/** Plays the services that work on a run that was accepted, or reopened for these works. */
export async function playOperations(
  api: TestApi,
  runId: string,
  endings: readonly PlayedEnding[],
  tree?: PlayedTree,
): Promise<void> {
  if ((await api.ledger.getRun(runId)).generation > 1) return playReopened(api, runId, endings)
  await move(api, runId, { status: 'running', phase: 'planning' }, tree && { snapshotId: await storeTree(api, tree) })
  const operations = endings.map((ending) => plannedOperation(ending.name))
  await storeNodes(
    api,
    runId,
    operations.map(({ node }) => node),
  )
  await api.ledger.plan(runId, { slice: 0, operations, last: true })
  await move(api, runId, { phase: 'execution' })
  const { taken } = await api.ledger.dispatch(runId, endings.length)
  for (const job of taken) {
    const index = operations.findIndex((operation) => operation.operationId === job.operationId)
    const ending = endings[index]
    if (ending !== undefined) await settleAs(api, { runId, ...job }, ending, idsOf(ending, endings))
  }
}

/** Plays the operation that repeats the one of this name, since its sets collided. */
export async function playRepeat(api: TestApi, runId: string, ending: PlayedEnding): Promise<void> {
  const { generation } = await api.ledger.getRun(runId)
  const of = { runId, generation: generation + 1 }
  const operations = [await nextRecord(api.ledger, of, plannedOperation(ending.name), 'collided')]
  await api.ledger.planAgain(runId, { operations, event: event('operations.repeated'), generation })
  await playReady(api, runId, [ending])
}

/** Plays these works of a run that was reopened for them. */
async function playReopened(api: TestApi, runId: string, endings: readonly PlayedEnding[]): Promise<void> {
  await planReopened(
    api.ledger,
    runId,
    endings.map(({ name }) => plannedOperation(name)),
  )
  await playReady(api, runId, endings)
}

async function playReady(api: TestApi, runId: string, endings: readonly PlayedEnding[]): Promise<void> {
  const { taken } = await api.ledger.dispatch(runId, endings.length)
  for (const job of taken) {
    const { node } = await api.ledger.getOperation(runId, job.operationId)
    const ending = endings.find(({ name }) => plannedOperation(name).node.nodeId === node.nodeId)
    if (ending !== undefined) await settleAs(api, { runId, ...job }, ending, idsOf(ending, endings))
  }
}

/** Of the sets that the ending's one is built on. */
function idsOf(ending: PlayedEnding, all: readonly PlayedEnding[]): string[] {
  const needed = 'builtOn' in ending ? (ending.builtOn ?? []) : []
  return needed.map((name) => {
    const one = all.find((other) => other.name === name)
    return one === undefined ? name : playedSetId(one, all)
  })
}

/** The id of the set that an ending makes; `all`: those of its run. */
export function playedSetId(ending: PlayedEnding, all: readonly PlayedEnding[]): string {
  if (!('changes' in ending)) return ''
  return changeSetId(plannedOperation(ending.name).operationId, ending.changes, idsOf(ending, all))
}

export async function askingRun(
  api: TestApi,
  asks: AskedQuestion = { text: 'Shall I?', choices: null },
): Promise<string> {
  return playRun(api, [{ name: 'asking', asks }])
}

export async function submitRun(api: TestApi): Promise<string> {
  const before = api.jobs.length
  await api.ask('/v1/runs', { method: 'POST', body: runForm(await tarOf({ 'a.py': 'x = 1\n' })) })
  const runId = api.jobs[before]
  if (runId === undefined) throw new Error('the run was not accepted')
  return runId
}

type FoundBeside = { edges?: Edge[]; skipped?: SkippedFile[]; pageNodes?: number } & Partial<
  Pick<PlanSummary, 'agents' | 'notices' | 'nodesLookedAt' | 'beyondLimit'>
>

/** Stores what the run found and planned, as discovery does. */
export async function storeNodes(
  api: TestApi,
  runId: string,
  nodes: readonly CodeNode[],
  { edges = [], skipped = [], agents = {}, notices = [], pageNodes, ...counted }: FoundBeside = {},
): Promise<void> {
  const place = { projectId: api.project, runId }
  const nodeListKey = await putNodeList(api.objects, place, { nodes, skipped }, pageNodes)
  const edgeListKey = await putEdgeList(api.objects, place, { nodes, edges })
  const summary = {
    v: 1 as const,
    nodesLookedAt: nodes.length,
    beyondLimit: 0,
    ...counted,
    agents,
    skippedFiles: [...skipped],
    notices,
  }
  const planKey = await putPlanSummary(api.objects, place, summary)
  await api.ledger.move(runId, {
    from: [{ status: 'queued' }, { status: 'running' }],
    to: { phase: 'planning' },
    command: 'discovery',
    set: { nodeListKey, edgeListKey, planKey, nodes: nodes.length },
    events: [event('nodes.discovered')],
  })
}

/** Stores a composition of the run and ends the run as completed. */
export async function composeRun(
  api: TestApi,
  runId: string,
  { files, conflicts = [], ...more }: Partial<Composition> & { files: ComposedFile[] },
): Promise<void> {
  const composition = { v: 1, runId, of: 'proposed', files, conflicts, ...more } as const
  const compositionKey = await putComposition(
    api.objects,
    { projectId: api.project, runId: composition.runId },
    composition,
  )
  await api.ledger.move(runId, {
    from: [{ status: 'running' }],
    to: { status: 'completed' },
    command: 'compose',
    set: { compositionKey },
    events: [event('run.composed'), event('run.completed')],
  })
}

async function storeTree(api: TestApi, tree: PlayedTree): Promise<string> {
  const files: SnapshotFile[] = []
  const links: SnapshotLink[] = []
  for (const [path, given] of Object.entries(tree)) {
    const entry = typeof given === 'string' ? { content: given, executable: false } : given
    if ('target' in entry) links.push({ path, ...entry })
    else {
      const content = Buffer.from(entry.content)
      const hash = await api.blobs.put(api.project, content)
      files.push({ path, hash, size: content.length, executable: entry.executable })
    }
  }
  return (await writeSnapshot(api.objects, api.project, { files, links, skipped: [] })).snapshotId
}

async function move(
  api: TestApi,
  runId: string,
  to: { status?: 'running'; phase: 'planning' | 'execution' },
  set: { snapshotId?: string } = {},
) {
  const from = [{ status: 'queued' as const }, { status: 'running' as const }]
  const events = to.status === undefined ? [] : [event('run.started')]
  await api.ledger.move(runId, { from, to, command: to.phase, set, events })
}

function event(name: NewEvent['event']): NewEvent {
  return anEvent({ event: name, phase: 'execution', origin: { kind: 'discovery', id: 'test' } })
}

export function plannedOperation(name: string): PlannedOperation {
  const identity = { path: 'a.py', kind: 'function', qualifiedName: name, ordinal: 0 }
  const id = nodeId(identity)
  const place = { startLine: 1, endLine: 1, startByte: 0, endByte: 5, parentId: null, hash: sha256(name) }
  const node = { nodeId: id, kind: 'function', name, qualifiedName: name, path: 'a.py', language: 'python', ...place }
  return {
    operationId: operationId(id, 'lint'),
    bundle: 'lint',
    bundleHash: sha256('lint'),
    node,
    work: 'agent',
    priority: 10,
    after: [],
  }
}

type Job = { runId: string; operationId: string; dispatch: number }

async function settleAs(api: TestApi, job: Job, ending: PlayedEnding, needed: string[]): Promise<void> {
  const answer = await api.ledger.claim(job, `token-of-${job.operationId}`)
  if (answer.kind !== 'claimed') throw new Error(`the operation is ${answer.kind}`)
  const figures = { turns: 2, promptTokens: 100, completionTokens: 20, durationMs: 50 }
  if ('asks' in ending) {
    const spent = { turns: 1, promptTokens: 10, completionTokens: 5, durationMs: 12 }
    const stored = { answerWithinMs: 3_600_000, recordHash: sha256('record') }
    await api.ledger.suspend(answer.attempt, 1, { question: ending.asks, ...stored, spent, events: [] })
    return
  }
  if ('fails' in ending) {
    const { code: errorCode, reason } = ending.fails
    const failed: Outcome = { status: 'failed', summary: 'failed', errorCode, reason, changedFiles: [], ...figures }
    await api.ledger.settle(answer.attempt, 1, { outcome: failed, events: [] })
    return
  }
  if ('leaves' in ending) {
    const { leaves: summary, finds = [] } = ending
    const counted = finds.length === 0 ? {} : { findings: finds.length }
    const unchanged: Outcome = { status: 'unchanged', summary, changedFiles: [], ...counted, ...figures }
    const record = recordOf(job, null, unchanged, finds.length === 0 ? [] : [reportingRun(finds)])
    const recordHash = await putAttemptRecord(api.objects, api.project, record)
    await api.ledger.settle(answer.attempt, 1, { outcome: { ...unchanged, recordHash }, events: [] })
    return
  }
  const changeSet: ChangeSet = {
    changeSetId: changeSetId(originalId(answer.attempt), ending.changes, needed),
    operationId: originalId(answer.attempt),
    bundle: ending.agent ?? 'lint',
    nodeId: answer.attempt.node.nodeId,
    files: ending.changes,
    ...(needed.length === 0 ? {} : { builtOn: needed }),
    evidence: [{ check: 'parses', path: 'a.py', ok: true, tool: 'tree-sitter' }],
  }
  const changedFiles = ending.changes.map((change) => change.path)
  const done = {
    status: 'succeeded',
    summary: 'fixed',
    changeSetId: changeSet.changeSetId,
    changedFiles,
    ...figures,
  } as const
  const recordHash = await putAttemptRecord(api.objects, api.project, recordOf(job, changeSet, done))
  const builtOn = new Map(needed.map((id) => [id, [changeSet.changeSetId]]))
  await api.ledger.settle(answer.attempt, 1, { outcome: { ...done, recordHash }, builtOn, events: [] })
}
