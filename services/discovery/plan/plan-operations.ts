import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { operationId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { PinnedBundle } from './pinned-bundle.ts'
import { planDependencies } from './plan-dependencies.ts'
import { refuseCircles } from './refuse-circles.ts'

/**
 * The operations of a run: every bundle on every node it takes, or those of `only`; the first `limit` of them. They come
 * node by node, but each after those it waits for, so that what the limit cuts off is waited for by nothing that stays.
 * `nodes` come in source order, an enclosing one before what it encloses. Pure: the same input gives the same plan.
 * AGENT_001 when bundles wait for each other in a circle.
 */
export function planOperations(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  { limit, only }: { limit?: number | undefined; only?: ReadonlySet<string> | undefined } = {},
): PlannedOperation[] {
  refuseCircles(bundles.map(({ bundle }) => bundle))
  const operations = nodes.flatMap((node) =>
    bundles.filter(({ bundle }) => takes(bundle, node)).map((pinned) => operationOf(node, pinned)),
  )
  const wanted = operations.filter((operation) => only?.has(operation.operationId) ?? true)
  return planDependencies(wanted, bundles).slice(0, limit)
}

function takes(bundle: AgentBundle, node: CodeNode): boolean {
  return bundle.file.node_kinds.includes(node.kind) && bundle.file.languages.includes(node.language)
}

function operationOf(node: CodeNode, { hash, bundle }: PinnedBundle): PlannedOperation {
  const { name, priority } = bundle.file
  return {
    operationId: operationId(node.nodeId, name),
    bundle: name,
    bundleHash: hash,
    node,
    work: 'agent',
    priority,
    after: [],
  }
}
