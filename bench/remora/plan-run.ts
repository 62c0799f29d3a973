import type { CodeNode } from '#domain/code-node.ts'
import { newTraceparent } from '#domain/traceparent.ts'
import { defaultProject, newRunId, nodeId, type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import { RunRequest } from '#domain/run.ts'
import { maxSliceOperations } from '#store/ledger/plan.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { planOperations } from '#stages/plan/plan-operations.ts'
import { nodeSource, type NodeSource } from '../model/node-source.ts'
import type { BenchStack } from './bench-stack.ts'

export type PlannedRun = {
  first: number
  count: number
  files?: number
  priority?: number | undefined
  project?: ProjectId | undefined
}

const origin = { kind: 'discovery', id: 'bench' } as const

/**
 * A planned run of one operation for each of `count` nodes, numbered from `first`: its snapshot is stored, its operations
 * wait in the ledger. Nothing runs before `startRun`. Every node has a file of its own, unless there are fewer `files`:
 * then nodes share them, which makes large runs cheap to plan, and impossible to compose.
 */
export async function planRun(stack: BenchStack, plan: PlannedRun): Promise<RunId> {
  const { first, count, files = count, priority, project } = plan
  const sources = Array.from({ length: files }, (_, index) => nodeSource(first + index))
  const nodes = Array.from({ length: Math.ceil(count / files) }, (_, ordinal) =>
    sources.map((source) => nodeOf(source, ordinal)),
  )
  return planNodes(stack, { files: sources, nodes: nodes.flat().slice(0, count), priority, project })
}

export type PlannedTree = {
  files: readonly Pick<NodeSource, 'path' | 'file'>[]
  nodes: readonly CodeNode[]
  priority?: number | undefined
  project?: ProjectId | undefined
}

/** The same for the nodes of given files. */
export async function planNodes(stack: BenchStack, tree: PlannedTree): Promise<RunId> {
  const { files, nodes, priority, project = defaultProject } = tree
  const { ledger } = stack
  const snapshotId = await storeSnapshot(stack, project, files)
  const request = RunRequest.parse({ agents: ['loop'], ...(priority === undefined ? {} : { priority }) })
  const runId = newRunId(Date.now())
  await ledger.createRun({
    runId,
    projectId: project,
    request,
    uploadKey: 'none',
    traceparent: newTraceparent(null, true),
    acceptedEvent: { event: 'run.accepted', phase: 'snapshot', origin, data: { agents: [] } },
  })
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId, nodes: nodes.length, files: files.length, bundles: JSON.stringify([stack.bundle.hash]) },
    events: [{ event: 'run.started', phase: 'planning', origin, data: { agents: [] } }],
  })
  const { operations } = planOperations(nodes, [stack.bundle])
  const slices = Math.ceil(operations.length / maxSliceOperations)
  for (let slice = 0; slice < slices; slice++) {
    const part = operations.slice(slice * maxSliceOperations, (slice + 1) * maxSliceOperations)
    await ledger.plan(runId, { slice, operations: part, last: slice === slices - 1 })
  }
  return runId
}

/** From here the dispatcher hands the run's operations to the worker. */
export async function startRun({ ledger }: BenchStack, runId: RunId): Promise<void> {
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'plan',
    events: [
      {
        event: 'run.planned',
        phase: 'planning',
        origin,
        data: { operations: 0, nodes_looked_at: 0, beyond_limit: 0, looked_at: 0, agents: {}, notices: [] },
      },
    ],
  })
}

async function storeSnapshot(
  { blobs, objects }: BenchStack,
  project: ProjectId,
  sources: PlannedTree['files'],
): Promise<string> {
  const contents = sources.map(({ file }) => Buffer.from(file))
  const hashes = await blobs.putMany(project, contents)
  const files = sources.map(({ path }, index) => {
    const [hash = '', size = 0] = [hashes[index], contents[index]?.length]
    return { path, hash, size, executable: false }
  })
  const { snapshotId } = await writeSnapshot(objects, project, { files, links: [], skipped: [] })
  return snapshotId
}

export function nodeOf({ path, name, startByte, text }: Omit<NodeSource, 'file'>, ordinal = 0): CodeNode {
  return {
    nodeId: nodeId({ path, kind: 'function', qualifiedName: name, ordinal }),
    kind: 'function',
    name,
    qualifiedName: name,
    path,
    language: 'python',
    startLine: 2,
    endLine: 1 + text.split('\n').length,
    startByte,
    endByte: startByte + text.length,
    parentId: null,
    hash: sha256(text),
  }
}
