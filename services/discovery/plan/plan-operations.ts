import picomatch from 'picomatch'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { operationId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { RunRequest } from '#domain/run.ts'

/** A bundle of the run and the hash it is pinned by. */
export type PinnedBundle = { hash: string; bundle: AgentBundle }

/**
 * The operations of a run: every bundle on every node it takes, within what the request asks for. They come node by
 * node, a bundle after those it waits for on the same node, so that each waits only for earlier ones. Pure: the same
 * input gives the same plan. AGENT_001 when bundles wait for each other in a circle.
 */
export function planOperations(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  request: Pick<RunRequest, 'paths' | 'languages' | 'nodeKinds' | 'limits'>,
): PlannedOperation[] {
  const ordered = inOrderOfDependency(bundles)
  const wanted = nodeFilter(request)
  const limit = request.limits.operations ?? Infinity
  const operations: PlannedOperation[] = []
  for (const node of nodes) {
    if (!wanted(node)) continue
    const onNode = ordered.filter(({ bundle }) => takes(bundle, node))
    for (const pinned of onNode) {
      if (operations.length >= limit) return operations
      operations.push(operationOf(node, pinned, onNode))
    }
  }
  return operations
}

function operationOf(node: CodeNode, pinned: PinnedBundle, onNode: readonly PinnedBundle[]): PlannedOperation {
  const { file } = pinned.bundle
  const here = new Set(onNode.map(({ bundle }) => bundle.file.name))
  return {
    operationId: operationId(node.nodeId, file.name),
    bundle: file.name,
    bundleHash: pinned.hash,
    node,
    priority: file.priority,
    after: file.after.filter((name) => here.has(name)).map((name) => operationId(node.nodeId, name)),
  }
}

function takes(bundle: AgentBundle, node: CodeNode): boolean {
  return bundle.file.node_kinds.includes(node.kind) && bundle.file.languages.includes(node.language)
}

function nodeFilter({ paths, languages, nodeKinds }: Pick<RunRequest, 'paths' | 'languages' | 'nodeKinds'>) {
  const isWantedPath = paths === undefined ? () => true : picomatch(paths.flatMap((path) => [path, `${path}/**`]))
  return (node: CodeNode) =>
    isWantedPath(node.path) &&
    (languages === undefined || languages.includes(node.language)) &&
    (nodeKinds === undefined || nodeKinds.includes(node.kind))
}

function inOrderOfDependency(bundles: readonly PinnedBundle[]): PinnedBundle[] {
  const left = new Map(bundles.map((pinned) => [pinned.bundle.file.name, pinned]))
  const ordered: PinnedBundle[] = []
  while (left.size > 0) {
    const free = [...left.values()].filter(({ bundle }) => !bundle.file.after.some((name) => left.has(name)))
    if (free.length === 0)
      throw new AppError('AGENT_001', `bundles wait for each other: ${[...left.keys()].join(', ')}`)
    for (const pinned of free) {
      ordered.push(pinned)
      left.delete(pinned.bundle.file.name)
    }
  }
  return ordered
}
