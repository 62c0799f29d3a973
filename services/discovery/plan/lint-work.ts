import type { CodeNode } from '#domain/code-node.ts'
import type { NodeId } from '#domain/ids.ts'
import type { OperationWork } from '#domain/operation.ts'
import type { LintFault } from '../survey/surveyed-file.ts'
import type { Survey } from '../survey/survey-repository.ts'

/** What a bundle has to do on a node; without work, why. */
export type NodeWork = { works: readonly OperationWork[]; reason?: string | undefined }
export type WorkFinder = (node: CodeNode) => NodeWork

/** `safe`: only what a program can fix. `model`: an agent is asked for the rest. */
export type LintDepth = 'safe' | 'model'

/** Bytes of a file that an agent works on, and the node that the agent is given. */
export type AgentRange = { nodeId: NodeId; startByte: number; endByte: number }

/**
 * Where a bundle has lint faults to mend. Each fault belongs to the innermost node that the bundle takes. Faults with a safe
 * fix are the business of one mechanical operation on the outermost node; what has none goes to an agent, with the node it
 * lies in. `agentRanges` are the bytes that agents work on, by path: the mechanical operation stays out of them.
 */
export function lintWork(
  taken: readonly CodeNode[],
  { faults, unlinted }: Pick<Survey, 'faults' | 'unlinted'>,
  { depth, isMechanical }: { depth: LintDepth; isMechanical: boolean },
): { find: WorkFinder; agentRanges: ReadonlyMap<string, readonly AgentRange[]> } {
  const works = new Map<CodeNode, NodeWork>()
  const agentRanges = new Map<string, readonly AgentRange[]>()
  for (const [path, nodes] of Map.groupBy(taken, (node) => node.path)) {
    const found = faults.get(path)
    if (found === undefined) {
      const reason = unlinted.get(path) ?? 'it is not linted'
      for (const node of nodes) works.set(node, { works: [], reason })
      continue
    }
    const file = fileWork(nodes, found, { depth, isMechanical })
    for (const node of nodes) works.set(node, file.workOf(node))
    if (file.ranges.length > 0) agentRanges.set(path, file.ranges)
  }
  return { find: (node) => works.get(node) ?? { works: [], reason: 'it is not linted' }, agentRanges }
}

function fileWork(
  nodes: readonly CodeNode[],
  faults: readonly LintFault[],
  how: { depth: LintDepth; isMechanical: boolean },
): { workOf(node: CodeNode): NodeWork; ranges: readonly AgentRange[] } {
  const owned = Map.groupBy(faults, (fault) => innermost(nodes, fault))
  const asks = (fault: LintFault) => fault.mustStay === undefined && !(fault.isFixable && how.isMechanical)
  const asked = new Map(
    nodes.flatMap((node) => {
      const open = (owned.get(node) ?? []).filter(asks)
      return open.length === 0 || (how.depth === 'safe' && how.isMechanical) ? [] : [[node, open] as const]
    }),
  )
  const ranges = [...asked].flatMap(([node, open]) => {
    const bytes = node.parentId === null ? open.map(contextOf) : [rangeOf(node)]
    return bytes.map((range) => ({ nodeId: node.nodeId, ...range }))
  })
  const isFree = ({ fixStartByte, fixEndByte }: LintFault) =>
    !ranges.some(({ startByte, endByte }) => fixStartByte < endByte && startByte < fixEndByte)
  const fixable = how.isMechanical ? faults.filter((fault) => fault.isFixable && isFree(fault)) : []
  const roots = new Set(
    nodes.filter((node) => !nodes.some((other) => other !== node && contains(other, rangeOf(node)))),
  )
  return {
    ranges,
    workOf(node) {
      const works: OperationWork[] = []
      const inside = (fault: LintFault) => node.startByte <= fault.fixStartByte && fault.fixEndByte <= node.endByte
      if (roots.has(node) && fixable.some(inside)) works.push('mechanical')
      if (asked.has(node)) works.push('agent')
      return { works, reason: works.length > 0 ? undefined : reasonFor(owned.get(node) ?? []) }
    },
  }
}

function reasonFor(own: readonly LintFault[]): string {
  if (own.length === 0) return 'no lint fault'
  if (own.some(({ isFixable }) => isFixable)) return 'its lint faults are fixed with the file'
  return own.every(({ mustStay }) => mustStay !== undefined)
    ? 'what its lint fixes would remove has to stay'
    : 'its lint faults have no safe fix, and no model is asked (lint.depth: safe)'
}

/** The smallest of the nodes around a fault. */
function innermost(nodes: readonly CodeNode[], fault: LintFault): CodeNode | undefined {
  let found: CodeNode | undefined
  for (const node of nodes) {
    if (!contains(node, fault)) continue
    if (found === undefined || node.endByte - node.startByte <= found.endByte - found.startByte) found = node
  }
  return found
}

type ByteRange = { startByte: number; endByte: number }

function contains(outer: ByteRange, inner: ByteRange): boolean {
  return outer.startByte <= inner.startByte && inner.endByte <= outer.endByte
}

function rangeOf({ startByte, endByte }: CodeNode): ByteRange {
  return { startByte, endByte }
}

/** Of a fault at a module's own level: the statement it stands in. */
function contextOf({ contextStartByte, contextEndByte }: LintFault): ByteRange {
  return { startByte: contextStartByte, endByte: contextEndByte }
}
