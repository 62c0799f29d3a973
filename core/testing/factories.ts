import type { CodeNode } from '#domain/code-node.ts'
import type { NewEvent } from '#domain/event.ts'
import { defaultProject, newRunId, nodeId, operationId, type ProjectId, type RunId } from '#domain/ids.ts'
import type { Outcome, PlannedOperation, OperationCost } from '#domain/operation.ts'
import { RunRequest } from '#domain/run.ts'

/** A function node that is its own: nodes with different names have different ids. */
function aNode(name = 'greet', over: Partial<CodeNode> = {}): CodeNode {
  const path = over.path ?? 'src/app.py'
  const kind = over.kind ?? 'function'
  return {
    nodeId: nodeId({ path, kind, qualifiedName: name, ordinal: 0 }),
    kind,
    name,
    qualifiedName: name,
    path,
    language: 'python',
    startLine: 1,
    endLine: 2,
    startByte: 0,
    endByte: 40,
    parentId: null,
    hash: 'a'.repeat(64),
    ...over,
  }
}

/** A planned operation of the bundle `lint` on `aNode(name)`, waiting for the named nodes' operations of `after`. */
export function aPlannedOperation(
  name: string,
  over: Partial<PlannedOperation> = {},
  after: readonly PlannedOperation[] = [],
): PlannedOperation {
  const node = over.node ?? aNode(name)
  const bundle = over.bundle ?? 'lint'
  return {
    operationId: operationId(node.nodeId, bundle),
    bundle,
    bundleHash: 'b'.repeat(64),
    node,
    work: 'agent',
    priority: 10,
    after: after.map((other) => other.operationId),
    ...over,
  }
}

export function aRequest(over: Partial<RunRequest> = {}): RunRequest {
  return { ...RunRequest.parse({ agents: ['lint'] }), ...over }
}

export type RunFixture = {
  runId: RunId
  projectId: ProjectId
  request: RunRequest
  uploadKey: string
  traceparent: string | null
  acceptedEvent: NewEvent
}

/** What creates a run: with an id of its own, so that no two tests meet. */
export function aNewRun(over: Partial<RunFixture> = {}): RunFixture {
  const runId = over.runId ?? newRunId(Date.now())
  const projectId = over.projectId ?? defaultProject
  return {
    runId,
    projectId,
    request: aRequest(),
    uploadKey: `projects/${projectId}/uploads/${runId}`,
    traceparent: null,
    acceptedEvent: anEvent({ event: 'run.accepted', phase: 'snapshot', origin: { kind: 'api', id: 'test' } }),
    ...over,
  }
}

export function anEvent(over: Partial<NewEvent> = {}): NewEvent {
  return { event: 'turn.finished', phase: 'model', origin: { kind: 'worker', id: 'test' }, data: {}, ...over }
}

export const aCost: OperationCost = { turns: 1, promptTokens: 10, completionTokens: 5, durationMs: 12 }

export function anOutcome(over: Partial<Outcome> = {}): Outcome {
  return {
    status: 'succeeded',
    summary: 'done',
    changedFiles: [],
    ...aCost,
    ...over,
  }
}
