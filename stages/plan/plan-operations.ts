import type { CodeNode } from '#domain/code-node.ts'
import { operationId, type OperationId } from '#domain/ids.ts'
import type { OperationStatus, OperationWork, PlannedOperation } from '#domain/operation.ts'
import { type AgentBundle, awaitedBundles } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'
import { type PlannedWork, takes } from './node-work.ts'
import { always } from './survey-rule.ts'
import type { PinnedBundle } from './pin-bundles.ts'

/** The reason of those that a later generation is not asked for. */
export const notAsked = 'not among the operations to retry'

export type NodeLeftOut = { bundle: string; node: CodeNode; reason: string }

export type PlanChoices = {
  /** Tells where there is work; without it, every bundle has work on every node it takes. */
  work?: Pick<PlannedWork, 'of'>
  limit?: number | undefined
  /** Limits the plan to these works. */
  only?: { has(operationId: OperationId): boolean } | undefined
  /**
   * Counts only with `only`: it holds all works that did not end well before. Of those, the skipped ones are
   * planned as well that wait for nothing but operations of `only` and such as are planned for this reason.
   */
  unwell?: ReadonlyMap<string, { status: OperationStatus }> | undefined
}

export type PlannedOperations = {
  operations: PlannedOperation[]
  leftOut: NodeLeftOut[]
  /** Operations that the limit cut off; a node that keeps another one is not left out. */
  beyondLimit: number
}

/**
 * Plans every bundle on every node where it has work, or what `only` has of that; the first `limit` of them. Operations are sorted by node, but each comes
 * after those it waits for, so that none that is left waits for one that the limit cuts off. `nodes` come in source order, an enclosing one before
 * what it encloses. AGENT_001 when bundles wait for each other in a circle.
 */
export function planOperations(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  { work = { of: () => always }, limit, ...again }: PlanChoices = {},
): PlannedOperations {
  refuseCircles(bundles.map(({ bundle }) => bundle))
  const withoutWork: NodeLeftOut[] = []
  const finders = bundles.map((pinned) => ({ pinned, find: work.of(pinned) }))
  const operations = nodes.flatMap((node) =>
    finders.flatMap(({ pinned, find }) => {
      if (!takes(pinned.bundle, node)) return []
      const { works, reason } = find(node)
      if (works.length === 0) withoutWork.push({ bundle: pinned.bundle.file.name, node, reason: reason ?? 'no work' })
      return works.map((kind) => operationOf(node, pinned, kind))
    }),
  )
  const only = withSkipped(operations, bundles, again)
  const chosen = only === undefined ? operations : operations.filter(({ operationId: id }) => only.has(id))
  const inOrder = only === undefined ? planDependencies(chosen, bundles) : withEarlier(operations, chosen, bundles)
  const kept = inOrder.slice(0, limit)
  const cut = inOrder.slice(kept.length)
  const beyond = nodesOnlyOf(cut, kept, `beyond the limit of ${limit} ${limit === 1 ? 'operation' : 'operations'}`)
  const unasked = nodesOnlyOf(operations, chosen, notAsked)
  return { operations: kept, leftOut: [...withoutWork, ...beyond, ...unasked], beyondLimit: cut.length }
}

/** Operations of a later generation start also from the changes of those that have ended before. */
function withEarlier(
  operations: readonly PlannedOperation[],
  chosen: readonly PlannedOperation[],
  bundles: readonly PinnedBundle[],
): PlannedOperation[] {
  const all = new Map(planDependencies(operations, bundles).map((operation) => [operation.operationId, operation]))
  return planDependencies(chosen, bundles).map((operation) => {
    const { after = [], afterAny = [] } = all.get(operation.operationId) ?? {}
    const waitsFor = new Set([...operation.after, ...(operation.afterAny ?? [])])
    const startsFrom = [...after, ...afterAny].filter((id) => !waitsFor.has(id))
    return startsFrom.length === 0 ? operation : { ...operation, startsFrom }
  })
}

function withSkipped(
  operations: readonly PlannedOperation[],
  bundles: readonly PinnedBundle[],
  { only, unwell }: Pick<PlanChoices, 'only' | 'unwell'>,
): PlanChoices['only'] {
  if (only === undefined || unwell === undefined) return only
  const chosen = new Set(operations.flatMap(({ operationId: id }) => (only.has(id) ? id : [])))
  const ended = operations.filter(({ operationId: id }) => unwell.has(id))
  for (const { operationId: id, after } of planDependencies(ended, bundles)) {
    const wasSkipped = unwell.get(id)?.status === 'skipped' && after.length > 0
    if (wasSkipped && after.every((other) => chosen.has(other))) chosen.add(id)
  }
  return chosen
}

/** Returns the nodes of `operations`, once per bundle, without nodes on which the bundle has one of `others`. */
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

/**
 * Adds to operations, in source order, what they wait for, and puts each after all that. A bundle's `after` and `after_optional` wait for those
 * bundles' operations on the same node and on all nodes around it; its `containment` for its own on the nodes directly inside (`inner_first`) or on the
 * one directly around (`outer_first`). Instead of a node that the run leaves out, the next one inside or around it counts. Bundles must not wait in a cycle.
 */
function planDependencies(
  operations: readonly PlannedOperation[],
  bundles: readonly PinnedBundle[],
): PlannedOperation[] {
  const waits = new Map(operations.map((operation) => [operation, new Set<PlannedOperation>()]))
  const optional = new Map<PlannedOperation, ReadonlySet<string>>()
  const byBundle = Map.groupBy(operations, ({ bundle }) => bundle)
  for (const { bundle } of bundles) {
    const { name, after_optional: needless, containment } = bundle.file
    const all = byBundle.get(name) ?? []
    for (const other of awaitedBundles(bundle.file)) waitOnNodeAndAround(all, byBundle.get(other) ?? [], waits)
    for (const operation of all) optional.set(operation, new Set(needless))
    const own = all.filter(({ work }) => work === 'agent')
    if (containment === 'none') continue
    for (const { outer, inner } of contained(own)) {
      if (containment === 'inner_first') waits.get(outer)?.add(inner)
      else waits.get(inner)?.add(outer)
    }
  }
  return dependenciesFirst(waits).map((operation) => {
    const isOptional = ({ bundle }: PlannedOperation) => optional.get(operation)?.has(bundle) === true
    const all = [...(waits.get(operation) ?? [])]
    const [afterAny, after] = [all.filter(isOptional), all.filter((other) => !isOptional(other))].map(idsOf)
    return { ...operation, after: after ?? [], ...(afterAny?.length === 0 ? {} : { afterAny }) }
  })
}

const idsOf = (operations: readonly PlannedOperation[]) => operations.map(({ operationId: id }) => id)

type Waits = ReadonlyMap<PlannedOperation, Set<PlannedOperation>>

function waitOnNodeAndAround(
  own: readonly PlannedOperation[],
  others: readonly PlannedOperation[],
  waits: Waits,
): void {
  const othersIn = Map.groupBy(others, ({ node }) => node.path)
  for (const [path, operations] of Map.groupBy(own, ({ node }) => node.path)) {
    const around: PlannedOperation[] = []
    const opening = (othersIn.get(path) ?? []).values()
    let next = opening.next()
    for (const operation of operations) {
      const { startByte, endByte } = operation.node
      for (; next.done !== true && next.value.node.startByte <= startByte; next = opening.next()) {
        while (around.length > 0 && !surrounds(around.at(-1), next.value)) around.pop()
        around.push(next.value)
      }
      while (around.length > 0 && !surrounds(around.at(-1), operation)) around.pop()
      for (const other of around) if (other.node.endByte >= endByte) waits.get(operation)?.add(other)
    }
  }
}

/** Pairs one bundle's operations on a node and on the nearest one around it, by range: a parent may be left out by the run's filters. */
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

/** Goes depth first with an explicit stack: source may be nested deeper than the call stack allows. */
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

/** Throws AGENT_001, which names the cycle. An `after` that names a bundle which is not among them is ignored. */
function refuseCircles(bundles: readonly AgentBundle[]): void {
  const afterOf = new Map(bundles.map(({ file }) => [file.name, awaitedBundles(file)]))
  const cleared = new Set<string>()
  const follow = (name: string, path: readonly string[]): void => {
    const start = path.indexOf(name)
    if (start !== -1) {
      const circle = [...path.slice(start), name].join(' after ')
      throw new AppError('AGENT_001', `agents wait for each other in a circle: ${circle}`)
    }
    if (cleared.has(name)) return
    for (const other of afterOf.get(name) ?? []) follow(other, [...path, name])
    cleared.add(name)
  }
  for (const name of afterOf.keys()) follow(name, [])
}
