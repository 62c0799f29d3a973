import { LRUCache } from 'lru-cache'
import type { NodeEdge } from '#domain/edge.ts'
import type { RunId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { openEdgeLists, type EdgeListRef } from '#objects/read-edge-list.ts'
import { openNodeLists, type NodeListRef } from '#objects/read-node-list.ts'

export type RelatedPathsDeps = {
  ledger: Pick<Ledger, 'getRun'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

export type RelatedPaths = (attempt: Pick<Attempt, 'runId' | 'node'>) => Promise<string[]>

type Lists = { nodes: NodeListRef; edges: EdgeListRef }

const keptRuns = 100
const maxEdges = 500

/**
 * The other files an attempt's node has to do with, by the run's stored edges: first those it needs, then those that need
 * it, of each the ones with the most edges first. None where the run has stored no edges. A run's lists are asked for once.
 */
export function openRelatedPaths({ ledger, objects }: RelatedPathsDeps): RelatedPaths {
  const nodeLists = openNodeLists(objects)
  const edgeLists = openEdgeLists(objects)
  const known = new LRUCache<RunId, Promise<Lists | undefined>>({ max: keptRuns })
  const listsOf = (runId: RunId): Promise<Lists | undefined> => {
    const kept = known.get(runId)
    if (kept !== undefined) return kept
    const asked = readLists(ledger, runId)
    known.set(runId, asked)
    asked.catch(() => known.delete(runId))
    return asked
  }
  return async ({ runId, node }) => {
    const lists = await listsOf(runId)
    const place = lists && (await nodeLists.place(lists.nodes, node.nodeId))
    if (lists === undefined || place === undefined) return []
    const { edges } = await edgeLists.scan(lists.edges, place, { from: 0, limit: maxEdges })
    return byCloseness(edges.filter((edge) => edge.node.path !== node.path))
  }
}

async function readLists(ledger: RelatedPathsDeps['ledger'], runId: RunId): Promise<Lists | undefined> {
  const { projectId, nodeListKey, edgeListKey } = await ledger.getRun(runId)
  if (nodeListKey === null || edgeListKey === null) return undefined
  return { nodes: { projectId, runId, hash: nodeListKey }, edges: { projectId, runId, hash: edgeListKey } }
}

function byCloseness(edges: readonly NodeEdge[]): string[] {
  const groups = Map.groupBy(edges, (edge) => edge.node.path)
  const ranked = Array.from(groups, ([path, of]) => ({
    path,
    edges: of.length,
    isNeeded: of.some(({ direction }) => direction === 'out'),
  }))
  ranked.sort(
    (one, other) =>
      Number(other.isNeeded) - Number(one.isNeeded) || other.edges - one.edges || (one.path < other.path ? -1 : 1),
  )
  return ranked.map(({ path }) => path)
}
