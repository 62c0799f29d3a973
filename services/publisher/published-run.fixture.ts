import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { ChangeSet, Evidence, FileChange } from '#domain/change-set.ts'
import { CodeFinding, wireFinding } from '#domain/code-finding.ts'
import type { Outcome } from '#domain/operation.ts'
import type { GateReport } from '#domain/gate.ts'
import { changeSetId, type RunId } from '#domain/ids.ts'
import type { PartId } from '#domain/patch-note.ts'
import { RepoPath } from '#domain/repo-path.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import type { RunRequest } from '#domain/run.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { AttemptRecord, ToolRun } from '#store/objects/attempt-record.ts'
import type { ComposedFile, MadeSets } from '#store/objects/composition.ts'
import { getPart } from '#store/objects/patch-part.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { putComposition } from '#store/objects/stored-records.ts'
import { verifyRun } from '#stages/audit/verify-run.ts'
import { type BaseFiles, openBase, setOf } from '#stages/publish/composed.fixture.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation, aRequest } from '#testing/open-test-ledger.ts'
import { openTestPublisher, type TestPublisher, type TestPublisherOptions } from './test-publisher.fixture.ts'

/** What an operation of the run has made: replaces `from` in the file, or whatever changes it is given. */
export type PlayedChange = {
  agent?: string
  name: string
  /** Where several definitions have the same. */
  qualifiedName?: string
  /** The name of an earlier one that it is built on. */
  builtOn?: string
  isPending?: true
  isFailed?: true
  summary?: string
  rules?: string[]
  model?: string
  evidence?: Evidence[]
} & ({ path: string; from: string; to: string } | { files: FileChange[] })

export type PlayedRun = {
  repository?: TestPublisher['repository']
  changes: readonly PlayedChange[]
  /** The files of the run's snapshot: those that the branch has. */
  files?: BaseFiles
  source?: Partial<RepositorySource>
  request?: Partial<RunRequest>
  findings?: number
  gate?: GateReport
  /** What a worker composes instead of what the changes are. */
  lie?: (files: ComposedFile[]) => ComposedFile[]
  /** A person has accepted them, and not the policy of the run. */
  areOfPerson?: true
  composesPending?: true
}

const snapshotFiles: BaseFiles = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }

/** A completed run of a push, with its changes accepted, that the publisher has not looked at yet. */
async function playPublishable(publisher: TestPublisher, played: PlayedRun): Promise<RunId> {
  const { installation, ledger, project } = publisher
  const { repository = publisher.repository } = played
  const { id, owner, name } = repository
  const commit = (await repository.tip('main')) ?? ''
  const source: RepositorySource = {
    host: 'github',
    installationId: installation.id,
    repository: { id, owner, name },
    ref: 'refs/heads/main',
    commit,
    branch: 'main',
    isFork: false,
    ...played.source,
  }
  const run = aNewRun({
    projectId: project,
    request: aRequest({ accept: 'auto', ...played.request, repository: source }),
  })
  const { runId } = run
  const snapshotId = await storeFiles(publisher, played.files ?? snapshotFiles)
  await ledger.createRun(run)
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'started',
    set: { snapshotId, commit: source.commit ?? commit },
    events: [anEvent({ event: 'run.started', phase: 'planning' })],
  })
  const made = await playOperations(publisher, runId, played)
  const composition = composer(publisher, runId, { made, played })
  publisher.playWorker(async ({ part }) => {
    const compositionKey = await composition('accepted', part)
    if (part === undefined) return
    await ledger.notePart(runId, { part: part, decided: made.length, compositionKey })
  })
  await ledger.move(runId, {
    from: [{ status: 'running' }],
    to: { status: 'completed' },
    command: 'compose',
    set: { compositionKey: await composition('proposed') },
    events: [anEvent({ event: 'run.composed' }), anEvent({ event: 'run.completed' })],
  })
  await accept(publisher, runId, acceptedOf(made), played.areOfPerson ? 'human' : 'policy')
  await publisher.host().publishing.look(runId, Date.now())
  return runId
}

type Made = { isPending: boolean; set: ChangeSet; recordHash: string; operation: ReturnType<typeof aPlannedOperation> }

const acceptedOf = (made: readonly Made[]) => made.filter(({ isPending }) => !isPending)

async function storeFiles({ blobs, objects, project }: TestPublisher, files: BaseFiles): Promise<string> {
  const stored = []
  for (const [path, file] of Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const { content, executable } = typeof file === 'string' ? { content: file, executable: false } : file
    const hash = await blobs.put(project, Buffer.from(content))
    stored.push({ path, hash, size: Buffer.byteLength(content), executable })
  }
  return (await writeSnapshot(objects, project, { files: stored, links: [], skipped: [] })).snapshotId
}

async function playOperations(
  { ledger, objects, project }: TestPublisher,
  runId: RunId,
  { changes, files = snapshotFiles, findings = 0 }: PlayedRun,
): Promise<Made[]> {
  const base = openBase(files)
  const planned = changes.map((change) => {
    const operation = aPlannedOperation(change.name, { bundle: change.agent ?? 'lint' })
    const path = RepoPath.safeParse('files' in change ? change.files[0]?.path : change.path).data
    const { qualifiedName = change.name } = change
    return path === undefined ? operation : { ...operation, node: { ...operation.node, path, qualifiedName } }
  })
  const reporter = aPlannedOperation('reporter', { bundle: 'review' })
  const all = findings === 0 ? planned : [...planned, reporter]
  await ledger.plan(runId, { slice: 0, operations: all, last: true })
  const events = [anEvent({ event: 'run.planned', phase: 'planning' })]
  await ledger.move(runId, { from: [{ status: 'running' }], to: { phase: 'execution' }, command: 'planned', events })
  const { taken } = await ledger.dispatch(runId, all.length)
  const made: Made[] = []
  for (const job of taken) {
    const claimed = await ledger.claim({ runId, ...job }, `token ${job.operationId}`)
    if (claimed.kind !== 'claimed') throw new Error(`the operation is ${claimed.kind}`)
    const put = (record: Pick<AttemptRecord, 'changeSet' | 'tools'>, outcome: Outcome) =>
      putHashedJson(objects, (hash) => objectKeys.attempt(project, hash), recordOf(claimed.attempt, record, outcome))
    const at = planned.findIndex(({ operationId }) => operationId === job.operationId)
    const change = changes[at]
    const operation = planned[at]
    if (change === undefined || operation === undefined) {
      const ended = anOutcome({ status: 'unchanged', findings })
      const recordHash = await put({ changeSet: null, tools: [reported(findings)] }, ended)
      await ledger.settle(claimed.attempt, 1, { outcome: { ...ended, recordHash }, events: [] })
      continue
    }
    if (change.isFailed) {
      const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004' })
      await ledger.settle(claimed.attempt, 1, { outcome, events: [] })
      continue
    }
    const own = 'files' in change ? change.files : [base.editing(change.path, [change.from, change.to])]
    const needed = made.flatMap((one) =>
      one.operation.node.qualifiedName === change.builtOn ? one.set.changeSetId : [],
    )
    const { summary = 'done', rules, model, evidence = [] } = change
    const parses = { check: 'parses' as const, path: own[0]?.path ?? '', ok: true, tool: 'test' }
    const { operationId, bundle } = operation
    const more = { operationId, evidence: [parses, ...evidence], ...(rules && { rules }), ...(model && { model }) }
    const set = { ...setOf(changeSetId(operationId, own, needed), bundle, own, needed), ...more }
    const changedFiles = own.map(({ path }) => path)
    const ended = anOutcome({ changeSetId: set.changeSetId, changedFiles, summary })
    const recordHash = await put({ changeSet: set, tools: [] }, ended)
    await ledger.settle(claimed.attempt, 1, { outcome: { ...ended, recordHash }, events: [] })
    made.push({ set, recordHash, operation, isPending: change.isPending === true })
  }
  await ledger.relayResults(runId)
  return made
}

function recordOf(
  { runId, operationId, attempt, bundle, bundleHash }: Attempt,
  made: Pick<AttemptRecord, 'changeSet' | 'tools'>,
  outcome: Outcome,
): AttemptRecord {
  const of = { v: 1 as const, runId, operationId, attempt, bundle, bundleHash }
  const loop = { model: 'none', versions: {}, startedAt: 0, messages: [], replies: [], exchanges: [] }
  return { ...of, ...loop, ...made, reads: { contents: {}, listings: {}, absences: [] }, outcome }
}

function reported(count: number): ToolRun {
  const usual = { path: 'a.py', lineText: '', severity: 'warning', confidence: 0.5, rule: 'r1', endLine: 1, line: 1 }
  const externals = Array.from({ length: count }, (_, at) => {
    const finding = wireFinding(CodeFinding.parse({ ...usual, claim: `finding ${at}` }))
    return { name: 'report_finding', args: [], answer: { reported: true, finding } }
  })
  const result = { outcome: 'success', result: null, summary: 'reported', knowledgeDelta: {} } as const
  return { turn: 1, callId: 'c1', name: 'report_finding', arguments: '{}', result, externals, durationMs: 1 }
}

/** Composes all, or what is asked for, as a worker does. */
function composer(
  { blobs, objects, project }: TestPublisher,
  runId: RunId,
  { made, played }: { made: readonly Made[]; played: PlayedRun },
) {
  return async (of: 'proposed' | 'accepted', part?: PartId) => {
    const asked = part === undefined ? undefined : await getPart(objects, { projectId: project, runId }, part)
    const isAsked = ({ set }: Made) =>
      asked === undefined || played.composesPending || asked.changeSetIds.includes(set.changeSetId)
    const sets = [...made.filter(isAsked).map(({ set }) => set), ...(asked?.carried ?? [])]
    const { composition, readBlob } = openBase(played.files ?? snapshotFiles).composed(sets)
    for (const { resultHash } of composition.files) {
      if (resultHash !== null) await blobs.put(project, await readBlob(resultHash))
    }
    const files = composition.files.map((file) => ({ ...file, evidence: sets.flatMap(({ evidence }) => evidence) }))
    return putComposition(
      objects,
      { projectId: project, runId },
      {
        v: 1,
        runId,
        of,
        ...(part === undefined ? {} : { part }),
        files: played.lie?.(files) ?? files,
        conflicts: [],
        ...(of === 'proposed' && { made: madeByAgent(made) }),
        ...(played.gate && { gate: played.gate }),
      },
    )
  }
}

function madeByAgent(made: readonly Made[]): MadeSets[] {
  const byAgent = Map.groupBy(made, ({ operation }) => operation.bundle)
  return Array.from(byAgent, ([agent, all]) => {
    const sets = all.map(({ set }) => ({ id: set.changeSetId, place: 'sound' as const, proved: true }))
    return { agent, failed: 0, sets }
  })
}

async function accept(
  { ledger }: TestPublisher,
  runId: RunId,
  made: readonly Made[],
  kind: 'human' | 'policy',
): Promise<void> {
  for (const { set, recordHash, operation } of made) {
    const { last } = await ledger.readDecisions(runId)
    const { operationId, node, bundle: agent } = operation
    const decision = { changeSetId: set.changeSetId, runId, operationId, recordHash, node, agent, reason: null }
    const accepted = { ...decision, before: 'pending', verdict: 'accepted' } as const
    await ledger.decide(runId, { last, decisions: [accepted], by: { kind, id: 'auto' } })
  }
}

/** A publisher for the tests of a file, and a repository of its own for each of them. */
export function usePublisher(options: TestPublisherOptions = {}) {
  let publisher: TestPublisher | undefined
  let repository: TestPublisher['repository'] | undefined
  let count = 0
  beforeAll(async () => {
    publisher = await openTestPublisher(options)
    await publisher.takeAll()
  })
  afterAll(() => publisher?.close())
  beforeEach(async () => {
    repository = await opened(publisher).addRepository(`shop${++count}`, options.files)
  })
  const at = {
    get publisher() {
      return opened(publisher)
    },
    get repository() {
      return opened(repository)
    },
    /** A completed run of the repository, with its changes accepted, that the publisher has not looked at yet. */
    play: (played: PlayedRun) =>
      playPublishable(at.publisher, { ...played, repository: played.repository ?? at.repository }),
    /** The same, when there is nothing more to publish, and `remora verify` finds nothing wrong with the run. */
    async published(played: PlayedRun): Promise<RunId> {
      const runId = await at.play(played)
      await at.publisher.settle(runId)
      expect(await faultsOf(at.publisher, runId)).toEqual([])
      return runId
    },
  }
  return at
}

/** The played bundles and jobs are in no store. */
async function faultsOf({ ledger, objects }: TestPublisher, runId: RunId): Promise<string[]> {
  const queues = { missing: async (_queue: string, ids: string[]) => ids }
  const { violations } = await verifyRun(runId, { ledger, objects, queues, momentMs: 0 })
  return violations
    .map(({ message }) => message)
    .filter((message) => !/^bundle \S+: object \S+ is missing$/.test(message))
}

function opened<T>(one: T | undefined): T {
  if (one === undefined) throw new Error('it is opened when the tests begin')
  return one
}
