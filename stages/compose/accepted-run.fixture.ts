import type { ChangeSet } from '#domain/change-set.ts'
import type { GateRequest } from '#domain/gate.ts'
import { changeSetId, sha256, type RunId } from '#domain/ids.ts'
import { RepoPath } from '#domain/repo-path.ts'
import type { Verdict } from '#domain/decision.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation, aRequest } from '#testing/open-test-ledger.ts'
import type { TestComposition } from './composition.fixture.ts'

/** Replaces `from` in the file, for the operation of this name; `on`: the changes that it is built on. */
export type PlayedEdit = { name: string; path: string; from: string; to: string; on?: readonly string[] }

export type AcceptedRun = {
  runId: RunId
  /** The change set of an operation, by its name. */
  idOf(name: string): string
  decide(name: string, verdict: Verdict): Promise<void>
}

/** A run over `files` whose operations have made these changes, none of them decided on. */
export async function playEdits(
  { test: { ledger }, store: { objects, project }, deps: { blobs } }: TestComposition,
  files: Readonly<Record<string, string>>,
  { edits, verify }: { edits: readonly PlayedEdit[]; verify?: GateRequest },
): Promise<AcceptedRun> {
  const contents = Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const [, text] of contents) await blobs.put(project, Buffer.from(text))
  const stored = contents.map(([path, text]) => {
    return { path, hash: sha256(text), size: Buffer.byteLength(text), executable: false }
  })
  const { snapshotId } = await writeSnapshot(objects, project, { files: stored, links: [], skipped: [] })
  const request = aRequest(verify === undefined ? {} : { verify })
  const run = aNewRun({ projectId: project, request })
  const { runId } = run
  await ledger.createRun(run)
  const origin = { from: [], events: [] }
  const started = anEvent({ event: 'run.started', phase: 'planning' })
  const planning = { status: 'running', phase: 'planning' } as const
  const from = [{ status: 'queued' as const }]
  await ledger.move(runId, { ...origin, from, to: planning, command: 's', set: { snapshotId }, events: [started] })
  const planned = edits.map(({ name }) => aPlannedOperation(name))
  await ledger.plan(runId, { slice: 0, operations: planned, last: true })
  const events = [anEvent({ event: 'run.planned', phase: 'planning' })]
  await ledger.move(runId, { from: [planning], to: { phase: 'execution' }, command: 'planned', events })

  const made = new Map<string, { set: ChangeSet; recordHash: string }>()
  const { taken } = await ledger.dispatch(runId, edits.length)
  const dispatched = new Map(taken.map((job) => [job.operationId, job]))
  for (const [at, { path, from: old, to, on, name }] of edits.entries()) {
    const operation = planned[at]
    const job = operation && dispatched.get(operation.operationId)
    const answer = job && (await ledger.claim({ runId, ...job }, `token ${name}`))
    if (operation === undefined || answer?.kind !== 'claimed') throw new Error('the operation was not claimed')
    const text = files[path] ?? ''
    const start = text.indexOf(old)
    const edit = { start, end: start + old.length, text: to }
    const file = { kind: 'edit' as const, path: RepoPath.parse(path), baseHash: sha256(text), edits: [edit] }
    const builtOn = on?.map((other) => made.get(other)?.set.changeSetId ?? other)
    const { operationId, bundle, node } = operation
    const set: ChangeSet = {
      changeSetId: changeSetId(operationId, [file], builtOn),
      operationId,
      bundle,
      nodeId: node.nodeId,
      files: [file],
      ...(builtOn && { builtOn }),
      evidence: [{ check: 'parses', path, ok: true, tool: 'test' }],
    }
    const keyOf = (hash: string) => objectKeys.attempt(project, hash)
    const recordHash = await putHashedJson(objects, keyOf, { changeSet: set })
    made.set(name, { set, recordHash })
    const outcome = anOutcome({ changeSetId: set.changeSetId, recordHash, changedFiles: [path] })
    await ledger.settle(answer.attempt, 1, { outcome, events: [] })
  }

  const madeBy = (name: string) => {
    const found = made.get(name)
    if (found === undefined) throw new Error(`nothing was made by ${name}`)
    return found
  }
  return {
    runId,
    idOf: (name) => madeBy(name).set.changeSetId,
    async decide(name, verdict) {
      const { set, recordHash } = madeBy(name)
      const { changeSetId: id, operationId, bundle: agent } = set
      const { last, byChangeSet } = await ledger.readDecisions(runId)
      const before = byChangeSet.get(id)?.verdict ?? 'pending'
      const { node } = aPlannedOperation(name)
      const decision = { changeSetId: id, runId, operationId, recordHash, node, agent, before, verdict, reason: null }
      await ledger.decide(runId, { last, decisions: [decision], by: { kind: 'human', id: 't' } })
    },
  }
}
