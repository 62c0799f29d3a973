import type { CodeNode } from '#domain/code-node.ts'
import type { OperationWork } from '#domain/operation.ts'
import { firstIndex } from '#stages/discover/source-text.ts'
import type { AgentRange, NodeWork, WorkFinder } from '#stages/plan/survey-rule.ts'
import type { LintFault } from '#stages/plan/survey/survey-pool.ts'
import type { Survey } from '#stages/plan/survey/survey-repository.ts'

/** Depth `safe` fixes only what a program can; `model` asks an agent for the rest. */
export type LintDepth = 'safe' | 'model'

export type LintWork = {
  find: WorkFinder
  /** The bytes that agents work on, by path: the mechanical operation does not change them. */
  agentRanges: ReadonlyMap<string, readonly AgentRange[]>
  /** Faults without a safe fix that no model is asked for, as the depth is `safe`, and the files they are in. */
  left: LeftFaults
  /** Unused imports that stay, since others may import their names from a public module. */
  offered: Pick<LeftFaults, 'faults' | 'files'>
}

/** `withheld`: of these, how many Ruff could fix by each rule, where Remora does not make the fix, or it counts as unsafe in the file. */
export type LeftFaults = {
  faults: number
  files: number
  withheld: Record<'ours' | 'unsafe', Map<string, number>>
}

/** Gives faults with a safe fix to one mechanical operation on the outermost node, others to an agent, with the innermost node. */
export function lintWork(
  taken: readonly CodeNode[],
  { faults, unlinted }: Pick<Survey, 'faults' | 'unlinted'>,
  { depth, isMechanical }: { depth: LintDepth; isMechanical: boolean },
): LintWork {
  const works = new Map<CodeNode, NodeWork>()
  const agentRanges = new Map<string, readonly AgentRange[]>()
  const left: LeftFaults = { faults: 0, files: 0, withheld: { ours: new Map(), unsafe: new Map() } }
  const offered = { faults: 0, files: 0 }
  for (const [path, nodes] of Map.groupBy(taken, (node) => node.path)) {
    const ownFaults = faults.get(path)
    if (ownFaults === undefined) {
      const reason = unlinted.get(path) ?? 'it is not linted'
      for (const node of nodes) works.set(node, { works: [], reason })
      continue
    }
    const file = fileWork(nodes, ownFaults, { depth, isMechanical })
    for (const node of nodes) works.set(node, file.workOf(node))
    if (file.ranges.length > 0) agentRanges.set(path, file.ranges)
    left.faults += file.left.length
    left.files += file.left.length === 0 ? 0 : 1
    offered.faults += file.offered
    offered.files += file.offered === 0 ? 0 : 1
    for (const { code, withheld } of file.left) {
      const counts = withheld === undefined || withheld === 'offered' ? undefined : left.withheld[withheld]
      counts?.set(code, (counts.get(code) ?? 0) + 1)
    }
  }
  return { find: (node) => works.get(node) ?? { works: [], reason: 'it is not linted' }, agentRanges, left, offered }
}

function fileWork(
  nodes: readonly CodeNode[],
  faults: readonly LintFault[],
  { depth, isMechanical }: { depth: LintDepth; isMechanical: boolean },
): { workOf(node: CodeNode): NodeWork; ranges: readonly AgentRange[]; left: readonly LintFault[]; offered: number } {
  const ownerOf = innermostOf(faults, nodes)
  const owned = Map.groupBy(ownerOf.keys(), (fault) => ownerOf.get(fault))
  const isFixed = ({ isFixable }: LintFault) => isFixable && isMechanical
  const open = [...ownerOf.keys()].filter((fault) => fault.mustStay === undefined && !isFixed(fault))
  const asksNobody = depth === 'safe' && isMechanical
  const forAgents = asksNobody ? [] : open
  const askedNodes = new Set(forAgents.map((fault) => ownerOf.get(fault)))
  const ranges = [
    ...nodes
      .filter((node) => askedNodes.has(node) && node.parentId !== null)
      .map(({ nodeId, startByte, endByte }) => ({ nodeId, startByte, endByte })),
    // For a fault at module level: the statement that contains it.
    ...forAgents.flatMap((fault) => {
      const { nodeId, parentId } = ownerOf.get(fault) ?? {}
      if (nodeId === undefined || parentId !== null) return []
      return [{ nodeId, startByte: fault.contextStartByte, endByte: fault.contextEndByte }]
    }),
  ]
  const isAgents = overlapFinder(ranges)
  const fixes = new Map(faults.filter(isFixed).map((fault) => [fault, fixOf(fault)]))
  const holdsFix = insideFinder([...fixes.values()].filter((fix) => !isAgents(fix)))
  const outer = outermost(nodes)
  const roots = new Set(outer)
  const within = innermostOf([...fixes.values()], outer)
  const reachesOut = (fault: LintFault) => fixes.has(fault) && !within.has(fixes.get(fault) ?? fault)
  return {
    ranges,
    left: asksNobody ? open : [],
    offered: [...ownerOf.keys()].filter(({ withheld }) => withheld === 'offered').length,
    workOf(node) {
      const works: OperationWork[] = []
      if (roots.has(node) && holdsFix(node)) works.push('mechanical')
      if (askedNodes.has(node)) works.push('agent')
      return { works, reason: works.length > 0 ? undefined : reasonFor(owned.get(node) ?? [], reachesOut) }
    },
  }
}

function reasonFor(own: readonly LintFault[], reachesOut: (fault: LintFault) => boolean): string {
  if (own.length === 0) return 'no lint fault'
  const open = own.filter(({ isFixable, mustStay }) => !isFixable && mustStay === undefined)
  const share = open.length === own.length ? 'its' : 'some of its'
  if (open.length > 0) return `${share} lint faults ${whyOpen(open)}, and no model is asked (lint.depth: safe)`
  if (own.some(reachesOut)) return 'the fixes of its lint faults reach beyond the nodes that are worked on'
  if (own.some(({ isFixable }) => isFixable)) return 'its lint faults are fixed by the operation on an enclosing node'
  return 'what its lint fixes would remove or change is still needed'
}

/** Ruff may call a fix safe that Remora does not make: it would say so of its own check of the file. */
function whyOpen(open: readonly LintFault[]): string {
  if (open.every(({ withheld }) => withheld === 'unsafe')) {
    return 'have fixes that count as unsafe in this file'
  }
  const isWithheld = open.every(({ withheld }) => withheld !== undefined)
  return isWithheld ? 'have fixes that Remora does not make without a person' : 'have no safe fix'
}

function fixOf({ fixStartByte, fixEndByte }: LintFault): ByteRange {
  return { startByte: fixStartByte, endByte: fixEndByte }
}

/** Bytes of a file, end-exclusive. */
export type ByteRange = { startByte: number; endByte: number }

export function contains(outer: ByteRange, inner: ByteRange): boolean {
  return outer.startByte <= inner.startByte && inner.endByte <= outer.endByte
}

/** The ranges that no other range contains, in source order; of equal ones the first. */
export function outermost<Range extends ByteRange>(ranges: readonly Range[]): Range[] {
  const outerRanges: Range[] = []
  let end = -1
  for (const range of ranges.toSorted(bySource)) {
    if (range.endByte <= end) continue
    outerRanges.push(range)
    end = range.endByte
  }
  return outerRanges
}

/** Finds the smallest of `outer` around each of `inner`, the later one of two equals. One pass: a file may have tens of thousands of each. */
export function innermostOf<Outer extends ByteRange, Inner extends ByteRange>(
  inner: readonly Inner[],
  outer: readonly Outer[],
): ReadonlyMap<Inner, Outer> {
  const containers = new Map<Inner, Outer>()
  const opening = outer.toSorted(bySource).values()
  let next = opening.next()
  const open: Outer[] = []
  for (const range of inner.toSorted(bySource)) {
    for (; next.done !== true && next.value.startByte <= range.startByte; next = opening.next()) {
      closeUpTo(open, next.value.startByte)
      open.push(next.value)
    }
    closeUpTo(open, range.startByte - 1)
    const around = smallestAround(open, range)
    if (around !== undefined) containers.set(range, around)
  }
  return containers
}

function closeUpTo(open: ByteRange[], byte: number): void {
  for (let top = open.at(-1); top !== undefined && top.endByte <= byte; top = open.at(-1)) open.pop()
}

function smallestAround<Outer extends ByteRange>(open: readonly Outer[], inner: ByteRange): Outer | undefined {
  let smallest: Outer | undefined
  for (const range of open)
    if (contains(range, inner) && (smallest === undefined || sizeOf(range) <= sizeOf(smallest))) smallest = range
  return smallest
}

/** Tells whether a range has a byte in common with one of `ranges`; an empty one, which inserts, does where it is inside of one. */
export function overlapFinder(ranges: readonly ByteRange[]): (range: ByteRange) => boolean {
  const merged: ByteRange[] = []
  for (const { startByte, endByte } of ranges.toSorted(bySource)) {
    const last = merged.at(-1)
    if (last !== undefined && startByte < last.endByte) last.endByte = Math.max(last.endByte, endByte)
    else merged.push({ startByte, endByte })
  }
  return ({ startByte, endByte }) => {
    const first = merged[firstIndex(merged.length, (at) => (merged[at]?.endByte ?? 0) > startByte)]
    return first !== undefined && first.startByte < endByte
  }
}

/** Tells whether one of `ranges` lies inside of a range. */
export function insideFinder(ranges: readonly ByteRange[]): (outer: ByteRange) => boolean {
  const sorted = ranges.toSorted(bySource)
  /** Holds for each index the smallest end of the ranges from there on. */
  const leastEnds = sorted.map(({ endByte }) => endByte)
  for (let at = leastEnds.length - 2; at >= 0; at--) {
    leastEnds[at] = Math.min(leastEnds[at] ?? Infinity, leastEnds[at + 1] ?? Infinity)
  }
  return ({ startByte, endByte }) => {
    const first = firstIndex(sorted.length, (at) => (sorted[at]?.startByte ?? 0) >= startByte)
    return (leastEnds[first] ?? Infinity) <= endByte
  }
}

/** Puts an enclosing range before what it encloses; equal ones stay in their order. */
function bySource(left: ByteRange, right: ByteRange): number {
  return left.startByte - right.startByte || right.endByte - left.endByte
}

function sizeOf({ startByte, endByte }: ByteRange): number {
  return endByte - startByte
}
