import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { operationId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'

/** A bundle of the run and the hash it is pinned by. */
export type PinnedBundle = { hash: string; bundle: AgentBundle }

/**
 * The operations of a run: every bundle on every node it takes, `limit` of them at most. They come node by node, a
 * bundle after those it waits for on the same node, so that each waits only for earlier ones. Pure: the same input
 * gives the same plan. AGENT_001 when bundles wait for each other in a circle.
 */
export function planOperations(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  limit = Infinity,
): PlannedOperation[] {
  const ordered = inOrderOfDependency(bundles)
  const operations: PlannedOperation[] = []
  for (const node of nodes) {
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
