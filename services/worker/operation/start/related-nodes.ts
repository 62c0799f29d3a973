import type { NodeEdge } from '#domain/edge.ts'
import type { NodeId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { openEdgeLists } from '#objects/read-edge-list.ts'
import { openNodeLists } from '#objects/read-node-list.ts'
import { openKept } from '#platform/kept.ts'
import type { RunFacts } from './run-facts.ts'

export type RelatedNodesDeps = {
  runFacts(runId: string): Promise<RunFacts>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

type Place = Pick<Attempt, 'runId' | 'node'>

export type RelatedNodes = {
  /** The edges of an attempt's node as its run has stored them, at most `maxEdges`; none where it has stored none. */
  edges(of: Place): Promise<readonly NodeEdge[]>
  /** The nodes directly inside it, in source order; none where the run has stored no edges. */
  inside(of: Place): Promise<readonly NodeId[]>
}

const maxEdges = 500
/** The operations of some hundred nodes are under way at once, and each asks more than once. */
const keptNodes = 500

/** What the nodes of a run have to do with each other. */
export function openRelatedNodes({ runFacts, objects }: RelatedNodesDeps): RelatedNodes {
  const nodeLists = openNodeLists(objects)
  const edgeLists = openEdgeLists(objects)
  const kept = openKept<readonly NodeEdge[]>({ max: keptNodes })
  const readEdges = async ({ runId, node }: Place): Promise<readonly NodeEdge[]> => {
    const { lists } = await runFacts(runId)
    const place = lists && (await nodeLists.place(lists.nodes, node.nodeId))
    if (lists === undefined || place === undefined) return []
    return (await edgeLists.scan(lists.edges, place, { from: 0, limit: maxEdges })).edges
  }
  return {
    edges: (of) => kept(`${of.runId} ${of.node.nodeId}`, () => readEdges(of)),
    async inside({ runId, node }) {
      const { lists } = await runFacts(runId)
      const found = lists && (await nodeLists.find(lists.nodes, node.nodeId))
      return found?.children ?? []
    },
  }
}
