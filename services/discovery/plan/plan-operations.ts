import type { CodeNode } from '#domain/code-node.ts'
import { operationId } from '#domain/ids.ts'
import type { OperationWork, PlannedOperation } from '#domain/operation.ts'
import { always, takes, type PlannedWork } from './node-work.ts'
import type { PinnedBundle } from './pinned-bundle.ts'
import { planDependencies } from './plan-dependencies.ts'
import { refuseCircles } from './refuse-circles.ts'

/** What a plan leaves out: a node that a bundle takes and has no operation on. */
export type NodeLeftOut = { bundle: string; node: CodeNode; reason: string }

export type PlanChoices = {
  /** Without it, every bundle has work on every node it takes. */
  work?: Pick<PlannedWork, 'of'>
  limit?: number | undefined
  only?: ReadonlySet<string> | undefined
}

export type PlannedOperations = {
  operations: PlannedOperation[]
  leftOut: NodeLeftOut[]
  /** Operations that the limit cut off; a node that keeps another one is not left out. */
  beyondLimit: number
}

const everywhere: Pick<PlannedWork, 'of'> = { of: () => always }

/**
 * The operations of a run: every bundle on every node where it has work, or those of `only`; the first `limit` of them.
 * They come node by node, but each after those it waits for, so that what the limit cuts off is waited for by nothing that
 * stays. `nodes` come in source order, an enclosing one before what it encloses. Pure: the same input gives the same plan.
 * AGENT_001 when bundles wait for each other in a circle.
 */
export function planOperations(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  { work = everywhere, limit, only }: PlanChoices = {},
): PlannedOperations {
  refuseCircles(bundles.map(({ bundle }) => bundle))
  const withoutWork: NodeLeftOut[] = []
  const finders = bundles.map((pinned) => ({ pinned, find: work.of(pinned) }))
  const operations = nodes.flatMap((node) =>
    finders.flatMap(({ pinned, find }) => {
      if (!takes(pinned.bundle, node)) return []
      const { works, reason } = find(node)
      if (works.length === 0) withoutWork.push({ bundle: pinned.bundle.file.name, node, reason: reason ?? 'no work' })
      return works.map((one) => operationOf(node, pinned, one))
    }),
  )
  const asked = operations.filter(({ operationId: id }) => only?.has(id) ?? true)
  const inOrder = planDependencies(asked, bundles)
  const kept = inOrder.slice(0, limit)
  const cut = inOrder.slice(kept.length)
  const beyond = nodesOnlyOf(cut, kept, `beyond the limit of ${limit} ${limit === 1 ? 'operation' : 'operations'}`)
  const unasked = nodesOnlyOf(operations, asked, 'not among the operations to retry')
  return { operations: kept, leftOut: [...withoutWork, ...beyond, ...unasked], beyondLimit: cut.length }
}

/** The nodes of `operations`, each once for its bundle, but for those on which the bundle has one of `others`. */
function nodesOnlyOf(
  operations: readonly PlannedOperation[],
  others: readonly PlannedOperation[],
  reason: string,
): NodeLeftOut[] {
  const keyOf = ({ bundle, node }: PlannedOperation) => `${bundle} ${node.nodeId}`
  const known = new Set(others.map(keyOf))
  const distinct = new Map(operations.map((operation) => [keyOf(operation), operation]))
  return [...distinct].flatMap(([key, { bundle, node }]) => (known.has(key) ? [] : [{ bundle, node, reason }]))
}

function operationOf(node: CodeNode, { hash, bundle }: PinnedBundle, work: OperationWork): PlannedOperation {
  const { name, priority } = bundle.file
  const id = operationId(node.nodeId, name, work)
  return { operationId: id, bundle: name, bundleHash: hash, node, work, priority, after: [] }
}
