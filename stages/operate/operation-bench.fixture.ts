import { once } from 'node:events'
import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { operationId, type ProjectId, type RunId } from '#domain/ids.ts'
import type { Operation, OperationWork } from '#domain/operation.ts'
import { loadBundles } from '#bundles/load-bundle.ts'
import { openModelPool } from '#models/model-pool.ts'
import type { AttemptRecord } from '#store/objects/attempt-record.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openSnapshotReader, writeSnapshot } from '#store/objects/snapshot.ts'
import { getAttemptRecord, getBundle, putBundle } from '#store/objects/stored-records.ts'
import { openLog } from '#platform/log.ts'
import { openReleaser, type Releaser } from '#platform/service-process.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aNewRun, aPlannedOperation, nextRecord, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { anEvent } from '#testing/an-event.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { usualLimits } from '#sandbox/sandbox.fixture.ts'
import type { SnapshotPrograms } from './tools/programs/attempt-programs.ts'
import { openToolsBeside } from './tools/programs/tools-beside.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import { openPreparedBundles } from './agent/prepared-bundle.ts'
import { type EvidenceTools, openEvidenceChecker } from './evidence/evidence-checker.ts'
import { openSyntaxChecker } from './evidence/syntax-evidence.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { baseLayerOf } from './workspace/base-layer.ts'
import { openLineSearcher } from './workspace/search-files.ts'
import type { OperationDeps, OperationJob } from './run-operation.ts'
import { openSurroundings } from './start/start-context.ts'
import { openStartLayers } from './start/start-layer.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

export type Planned = { job: OperationJob; runId: RunId; file: { path: string; text: string; hash: string } }

type ShippedAgent = 'lint' | 'docstring' | 'researcher' | 'review' | 'harness' | 'sample_data' | 'terminal' | 'test'

export type OperationBench = TestLedger & {
  project: ProjectId
  deps: OperationDeps & { evidence: EvidenceTools; programs: SnapshotPrograms }
  /** Of the rehearsal model. */
  modelUrl: string
  /** A shipped bundle, which a test may change before it is planned. */
  bundle(name: ShippedAgent): Promise<AgentBundle>
  /** A running run with one dispatched operation: `bundle` on the function `name` of the Python file `text`. */
  planned(bundle: AgentBundle, text: string, name: string): Promise<Planned>
  /** The same on the whole file. */
  plannedFile(bundle: AgentBundle, text: string, work: OperationWork): Promise<Planned>
  /** Lets an operation that has ended run once more in its run, on top of nothing: its job. */
  repeatedOne(planned: Planned): Promise<OperationJob>
  operation(planned: Planned): Promise<Operation>
  record(operation: Operation): Promise<AttemptRecord>
}

/** The dependencies of a worker process: real Redis, S3, scripts and linter, and the rehearsal model as a process. */
export async function openOperationBench(): Promise<OperationBench> {
  const releaser = openReleaser()
  const store = await testObjects()
  releaser.add('objects', store.close)
  const ledger = await testLedger()
  releaser.add('ledger', ledger.close)
  const rehearsal = await startRehearsal()
  releaser.add('rehearsal', rehearsal.stop)
  const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 1000, maxInFlight: 8 }
  const model = openModelPool({ endpoints: [{ url: rehearsal.url }], ...limits })
  releaser.add('model', model.close)
  const scripts = openScriptPool({ size: 1 })
  releaser.add('scripts', scripts.close)
  const searcher = openLineSearcher()
  releaser.add('search', searcher.close)
  const { python, linter, evidence, syntax } = await openProofs(releaser)
  const { objects, project } = store
  const both = { ledger, store }
  const blobs = openBlobStore(objects, { maxCacheBytes: 1_000_000 })
  const readSnapshot = openSnapshotReader(objects)
  const archives = openSnapshotArchives(storedFiles(readSnapshot, blobs))
  releaser.add('archives', archives.close)
  const beside = openToolsBeside({ afterMs: 20_000 })
  releaser.add('tools', beside.close)
  const deps: OperationBench['deps'] = {
    ledger: ledger.ledger,
    objects,
    log: openLog({ service: 'test', level: 'silent' }),
    python,
    linter,
    syntax,
    scripts,
    searcher,
    beside,
    model,
    stops: { on: () => () => {} },
    workerId: 'w1',
    handBackMs: 1,
    evidence,
    runRules: async () => ({ of: async () => wideRules, agentRanges: () => [] }),
    versions: { linter: linter.version },
    ...openSurroundings({ ledger: ledger.ledger, objects }),
    startLayer: openStartLayers({ ledger: ledger.ledger, objects }),
    programs: {
      environment: async () => ({}),
      sandbox: openSandbox({ searchPath: '' }),
      limits: usualLimits,
      archive: archives.open,
      snapshot: readSnapshot,
      gateLimitS: 60,
    },
    bundles: openPreparedBundles((owner, hash) => getBundle(objects, owner, hash)),
    baseLayer: async (owner, id) => baseLayerOf(await readSnapshot(owner, id), blobs, owner),
    modelSettings: async () => ({ model: 'rehearsal', temperature: 0, toolChoice: 'required' }),
  }
  return {
    ...ledger,
    project,
    deps,
    modelUrl: rehearsal.url,
    bundle: shippedBundle,
    planned: (bundle, text, name) => planOne(both, bundle, { text, node: functionNode(text, name), work: 'agent' }),
    plannedFile: (bundle, text, work) => planOne(both, bundle, { text, node: fileNode(text), work }),
    repeatedOne: (planned) => repeatOne(ledger, planned),
    operation: ({ job, runId }) => ledger.ledger.getOperation(runId, job.operationId),
    record: ({ outcome }) => getAttemptRecord(objects, project, z.string().parse(outcome?.recordHash)),
    close: releaser.release,
  }
}

async function openProofs(releaser: Releaser) {
  const [python, linter, syntax] = [await loadLanguage('python'), await openTestLinter(), openSyntaxChecker()]
  releaser.add('linter', linter.close)
  releaser.add('syntax', syntax.close)
  return { python, linter, syntax, evidence: openEvidenceChecker({ linter, python, syntax }) }
}

async function shippedBundle(name: string): Promise<AgentBundle> {
  const found = (await loadBundles(`${root}agents`)).get(name)
  if (found === undefined) throw new Error(`there is no bundle ${name}`)
  return structuredClone(found.bundle)
}

/** The path is built at run time, since one service never imports another. */
async function startRehearsal(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = fork(`${root}services/rehearsal/main.ts`, [], {
    env: { REMORA_REHEARSAL_PORT: '0' },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const gone = once(child, 'close')
  if (child.stdout === null) throw new Error('the rehearsal model has no stdout')
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(String(line)))
  return {
    url,
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function planOne(
  { ledger: { ledger }, store: { objects, project } }: { ledger: TestLedger; store: TestObjects },
  bundle: AgentBundle,
  { text, node, work }: { text: string; node: CodeNode; work: OperationWork },
): Promise<Planned> {
  const bytes = Buffer.from(text)
  const hash = await openBlobStore(objects, { maxCacheBytes: 0 }).put(project, bytes)
  const files = [{ path: node.path, hash, size: bytes.length, executable: false }]
  const { snapshotId } = await writeSnapshot(objects, project, { files, links: [], skipped: [] })
  const run = aNewRun({ projectId: project })
  const { runId } = run
  const bundleHash = await putBundle(objects, project, bundle)
  const of = { node, bundle: bundle.file.name, bundleHash, work }
  const operation = aPlannedOperation(node.name, { ...of, operationId: operationId(node.nodeId, of.bundle, work) })
  await ledger.createRun(run)
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId },
    events: [anEvent({ event: 'run.started', phase: 'planning', origin: { kind: 'discovery', id: 'test' } })],
  })
  await ledger.plan(runId, { slice: 0, operations: [operation], last: true })
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'planned',
    events: [anEvent({ event: 'run.planned', phase: 'planning', origin: { kind: 'discovery', id: 'test' } })],
  })
  const [taken] = (await ledger.dispatch(runId, 1)).taken
  if (taken === undefined) throw new Error('nothing was dispatched')
  return { job: { runId, ...taken }, runId, file: { path: node.path, text, hash } }
}

async function repeatOne({ ledger }: TestLedger, { runId, job }: Planned): Promise<OperationJob> {
  const { node, bundle, bundleHash, work, priority, generation } = await ledger.getOperation(runId, job.operationId)
  await ledger.dispatch(runId, 1) // finds that all have ended
  const of = { runId, generation: generation + 1 }
  const planned = { operationId: job.operationId, node, bundle, bundleHash, work, priority, after: [] }
  const operations = [await nextRecord(ledger, of, planned, 'collided')]
  const event = anEvent({ event: 'operations.repeated', phase: 'review' })
  await ledger.planAgain(runId, { operations, event, generation })
  const [taken] = (await ledger.dispatch(runId, 1)).taken
  if (taken === undefined) throw new Error('nothing was dispatched')
  return { runId, ...taken }
}

const path = 'src/shop.py'

function fileNode(text: string): CodeNode {
  const { node } = aPlannedOperation('shop')
  return { ...node, path, kind: 'file', startByte: 0, endByte: Buffer.byteLength(text) }
}

/** From `def` to the next definition or the end, without the blank lines between them. */
function functionNode(text: string, name: string): CodeNode {
  const start = text.indexOf(`def ${name}(`)
  const next = text.indexOf('\ndef ', start)
  const end = start + text.slice(start, next === -1 ? undefined : next).trimEnd().length
  const [startByte, endByte] = [Buffer.byteLength(text.slice(0, start)), Buffer.byteLength(text.slice(0, end))]
  return { ...aPlannedOperation(name).node, path, startByte, endByte }
}
