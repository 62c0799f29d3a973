import type { NodeId } from '#domain/ids.ts'
import { type Run, weightOf } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type EdgeListRef, openEdgeLists } from '#store/objects/edge-list.ts'
import { type NodeListRef, openNodeLists } from '#store/objects/node-list.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { CodeNode, NodeEdge } from '#domain/code-node.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'

/** Facts that are the same for all operations of a generation of a run. */
export type RunFacts = {
  /** Those whose agents have work. */
  bundles: readonly string[]
  weight: number
  rulesKey: Run['rulesKey']
  environment: Run['environment']
  lists: { nodes: NodeListRef; edges: EdgeListRef } | undefined
}

const cachedRuns = 100

export type ReadRunFacts = (of: Pick<Attempt, 'runId' | 'generation'>) => Promise<RunFacts>

/** Reads the facts of runs for operations of theirs, and caches them. RUN_001 when there is no such run. */
export function openRunFacts(ledger: Pick<Ledger, 'getRun'>): ReadRunFacts {
  const cache = openCachedAnswers<RunFacts>({ max: cachedRuns })
  return ({ runId, generation }) => cache.get(`${runId} ${generation}`, async () => factsOf(await ledger.getRun(runId)))
}

function factsOf(run: Run): RunFacts {
  const { runId, projectId, nodeListKey, edgeListKey, rulesKey, environment } = run
  const bundles = run.agentBundles ?? []
  const facts = { bundles, rulesKey, environment, weight: weightOf(run.request.priority) }
  if (nodeListKey === null || edgeListKey === null) return { ...facts, lists: undefined }
  const owner = { projectId, runId }
  const lists = { nodes: { ...owner, hash: nodeListKey }, edges: { ...owner, hash: edgeListKey } }
  return { ...facts, lists }
}

type RelatedNodesDeps = { runFacts: ReadRunFacts; objects: Pick<ObjectStore, 'get' | 'getRange'> }

export type CodeLine = { path: string; line: number }
export type RelatedCodeNode = { node: CodeNode; edges: readonly NodeEdge[] }

type NodeOfRun = Pick<Attempt, 'runId' | 'generation' | 'node'>

export type RelatedNodes = {
  edges(of: NodeOfRun): Promise<readonly NodeEdge[]>
  inside(of: NodeOfRun): Promise<readonly NodeId[]>
  /** Finds the innermost node at a line of the snapshot, and its edges; undefined where the run has stored none there. */
  at(of: NodeOfRun, place: CodeLine): Promise<RelatedCodeNode | undefined>
  /**
   * The other files that the node is related to: first those it needs, then those that need it, each group by its number
   * of edges. Empty where the run has stored no edges.
   */
  paths(of: NodeOfRun): Promise<string[]>
}

const maxEdges = 500
/** Operations on some hundred nodes run at the same time, and each asks more than once. */
const cachedNodes = 500

/** Reads how the nodes of runs are related, and caches the edges. */
export function openRelatedNodes({ runFacts, objects }: RelatedNodesDeps): RelatedNodes {
  const nodeLists = openNodeLists(objects)
  const edgeLists = openEdgeLists(objects)
  const cache = openCachedAnswers<readonly NodeEdge[]>({ max: cachedNodes })
  const readEdges = async (of: NodeOfRun): Promise<readonly NodeEdge[]> => {
    const { lists } = await runFacts(of)
    const index = lists && (await nodeLists.place(lists.nodes, of.node.nodeId))
    if (lists === undefined || index === undefined) return []
    return (await edgeLists.scan(lists.edges, index, { from: 0, limit: maxEdges })).edges
  }
  const nodeAt = async (list: NodeListRef, { path, line }: CodeLine) => {
    let found: CodeNode | undefined
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof nodeLists.scan>> = await nodeLists.scan(list, { path, from, limit: 1_000 })
      const around = page.nodes.filter((node) => node.path === path && node.startLine <= line && line <= node.endLine)
      found = around.at(-1) ?? found // what is inside comes after what is around it
      from = page.next
    }
    return found
  }
  const edges = (of: NodeOfRun) => cache.get(`${of.runId} ${of.generation} ${of.node.nodeId}`, () => readEdges(of))
  return {
    edges,
    paths: async (of) => byCloseness((await edges(of)).filter((edge) => edge.node.path !== of.node.path)),
    async at(of, { path, line }) {
      const { lists } = await runFacts(of)
      if (lists === undefined) return undefined
      const node = await nodeAt(lists.nodes, { path, line })
      return node && { node, edges: await edges({ ...of, node }) }
    },
    async inside(of) {
      const { lists } = await runFacts(of)
      const node = lists && (await nodeLists.find(lists.nodes, of.node.nodeId))
      return node?.children ?? []
    },
  }
}

function byCloseness(edges: readonly NodeEdge[]): string[] {
  const groups = Map.groupBy(edges, (edge) => edge.node.path)
  const ranked = Array.from(groups, ([path, of]) => ({
    path,
    edges: of.length,
    isNeeded: of.some(({ direction }) => direction === 'out'),
  }))
  ranked.sort(
    (left, right) =>
      Number(right.isNeeded) - Number(left.isNeeded) || right.edges - left.edges || (left.path < right.path ? -1 : 1),
  )
  return ranked.map(({ path }) => path)
}
