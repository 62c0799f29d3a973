import { randomUUID } from 'node:crypto'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { newRunId, nodeId, type ProjectId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { getChangeSets, putBundle } from '#store/objects/stored-records.ts'
import { anEvent, aNewRun, aPlannedOperation } from '#testing/open-test-ledger.ts'
import { composeRun } from '#stages/compose/compose-run.ts'
import type { OperationBench } from '#stages/operate/operation-bench.fixture.ts'
import { runOperation } from '#stages/operate/run-operation.ts'

const never = new AbortController().signal
const origin = { kind: 'discovery', id: 'test' } as const

const definitions = {
  shelf: 'def shelf(row):\n    return f"shelf"\n',
  price: 'def price(row):\n    return row.price\n',
  broken: 'def broken(row):\n    return f"broken"\n',
}
type Name = keyof typeof definitions

/**
 * A run of five operations on one file, executed and composed by the worker's own functions: lint and then docstring on
 * `shelf`, a docstring on `price`, a lint on `broken` that fails, and a docstring that is skipped because of it. It has its
 * own objects and project.
 */
export async function composedRun(bench: OperationBench): Promise<RunId> {
  const projectId = `p${newRunId(Date.now())}`
  const runId = await startedRun(bench, projectId)
  await bench.ledger.plan(runId, { slice: 0, operations: await plannedOperations(bench, projectId), last: true })
  await bench.ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'planned',
    events: [anEvent({ event: 'run.planned', phase: 'planning', origin })],
  })
  for (;;) {
    const { taken } = await bench.ledger.dispatch(runId, 10)
    if (taken.length === 0) break
    await Promise.all(taken.map((job) => runOperation({ runId, ...job }, bench.deps, never)))
  }
  await bench.ledger.relayResults(runId)
  const blobs = openBlobStore(bench.deps.objects, { maxCacheBytes: 0 })
  const readSets = (project: ProjectId, hash: string) => getChangeSets(bench.deps.objects, project, hash)
  await composeRun(runId, { ...bench.deps, ledger: bench.ledger, blobs, readSets }, never)
  return runId
}

const path = 'src/shop.py'
const text = Object.values(definitions).join('\n\n')

async function startedRun({ ledger, deps: { objects } }: OperationBench, projectId: ProjectId): Promise<RunId> {
  const put = (content: string) => openBlobStore(objects, { maxCacheBytes: 0 }).put(projectId, Buffer.from(content))
  const notes = `nobody changes this: ${randomUUID()}\n`
  const fileOf = async (name: string, content: string) => {
    return { path: name, hash: await put(content), size: Buffer.byteLength(content), executable: false }
  }
  const files = [await fileOf('notes.txt', notes), await fileOf(path, text)]
  const { snapshotId } = await writeSnapshot(objects, projectId, { files, links: [], skipped: [] })
  const run = aNewRun({ projectId })
  await ledger.createRun(run)
  await ledger.move(run.runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId },
    events: [anEvent({ event: 'run.started', phase: 'planning', origin })],
  })
  return run.runId
}

async function plannedOperations(bench: OperationBench, projectId: ProjectId): Promise<PlannedOperation[]> {
  const lint = await bench.bundle('lint')
  const docstring = await bench.bundle('docstring')
  const failing = structuredClone(lint)
  failing.file.initial_context.system_prompt += '[[rehearsal:fault=unknown_tool]]'
  failing.file.limits.max_turns = 2
  const planned = async (bundle: AgentBundle, name: Name, after: PlannedOperation[] = []) => {
    const bundleHash = await putBundle(bench.deps.objects, projectId, bundle)
    return aPlannedOperation(name, { node: nodeOf(name), bundle: bundle.file.name, bundleHash }, after)
  }
  const shelf = await planned(lint, 'shelf')
  const broken = await planned(failing, 'broken')
  const waiting = [await planned(docstring, 'shelf', [shelf]), await planned(docstring, 'broken', [broken])]
  return [shelf, broken, ...waiting, await planned(docstring, 'price')]
}

function nodeOf(name: Name): CodeNode {
  const startByte = text.indexOf(definitions[name])
  const identity = { path, kind: 'function', qualifiedName: name, ordinal: 0 }
  const span = { startByte, endByte: startByte + definitions[name].trimEnd().length }
  return { ...aPlannedOperation(name).node, path, nodeId: nodeId(identity), ...span }
}
