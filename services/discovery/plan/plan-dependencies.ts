import type { OperationId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { PinnedBundle } from './pinned-bundle.ts'

/**
 * The operations with what each waits for, and in an order in which each comes after all it waits for, else as they
 * came. Two rules make them wait: a bundle's `after`, for those bundles' operations on the same node; its `containment`,
 * for its own operations on the nodes directly inside (`inner_first`) or on the one directly around (`outer_first`). What
 * is not among `operations` is not waited for: a bundle that does not take the node, a node the run leaves out, for which
 * the next one inside or around stands in. The bundles do not wait in a circle, and the operations come in source order,
 * an enclosing node before what it encloses. Any first part of the answer waits for nothing outside of it.
 */
export function planDependencies(
  operations: readonly PlannedOperation[],
  bundles: readonly PinnedBundle[],
): PlannedOperation[] {
  const waits = new Map(operations.map((operation) => [operation, new Set<PlannedOperation>()]))
  for (const { bundle } of bundles) {
    const { name, after, containment } = bundle.file
    const all = operations.filter((operation) => operation.bundle === name)
    for (const other of after) waitOnSameNode(all, onNode(other, operations), waits)
    const own = all.filter(({ work }) => work === 'agent')
    if (containment === 'none') continue
    for (const { outer, inner } of contained(own)) {
      if (containment === 'inner_first') waits.get(outer)?.add(inner)
      else waits.get(inner)?.add(outer)
    }
  }
  return dependenciesFirst(waits).map((operation) => {
    const after: OperationId[] = [...(waits.get(operation) ?? [])].map(({ operationId }) => operationId)
    return { ...operation, after }
  })
}

type Waits = ReadonlyMap<PlannedOperation, Set<PlannedOperation>>

function onNode(bundle: string, operations: readonly PlannedOperation[]): Map<string, PlannedOperation[]> {
  const its = operations.filter((operation) => operation.bundle === bundle)
  return Map.groupBy(its, (operation) => operation.node.nodeId)
}

function waitOnSameNode(
  own: readonly PlannedOperation[],
  others: ReadonlyMap<string, readonly PlannedOperation[]>,
  waits: Waits,
): void {
  for (const operation of own) {
    for (const other of others.get(operation.node.nodeId) ?? []) waits.get(operation)?.add(other)
  }
}

/**
 * One bundle's operations on a node and on the nearest one around it that has an operation. By range, not by `parentId`:
 * the parent may be a node that the run's filters left out, and then the chain of parents ends there.
 */
function contained(operations: readonly PlannedOperation[]): { outer: PlannedOperation; inner: PlannedOperation }[] {
  const around: PlannedOperation[] = []
  return operations.flatMap((inner) => {
    while (around.length > 0 && !surrounds(around.at(-1), inner)) around.pop()
    const outer = around.at(-1)
    around.push(inner)
    return outer === undefined ? [] : [{ outer, inner }]
  })
}

function surrounds(outer: PlannedOperation | undefined, { node }: PlannedOperation): boolean {
  return outer?.node.path === node.path && outer.node.endByte > node.startByte
}

/** Depth first with a stack of its own: source may be nested deeper than calls may be. */
function dependenciesFirst(waits: Waits): PlannedOperation[] {
  const opened = new Set<PlannedOperation>()
  const placed = new Set<PlannedOperation>()
  for (const operation of waits.keys()) {
    const open = [operation]
    for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
      if (opened.has(next) || placed.has(next)) {
        placed.add(next)
        open.pop()
        continue
      }
      opened.add(next)
      const before = [...(waits.get(next) ?? [])].filter((other) => !placed.has(other))
      open.push(...before.toReversed())
    }
  }
  return [...placed]
}
