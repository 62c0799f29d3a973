import type { NodeEdge } from '#domain/edge.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { RelatedNodes } from './related-nodes.ts'

export type RelatedPaths = (attempt: Pick<Attempt, 'runId' | 'node'>) => Promise<string[]>

/**
 * The other files an attempt's node has to do with, by the run's stored edges: first those it needs, then those that need
 * it, of each the ones with the most edges first. None where the run has stored no edges.
 */
export function openRelatedPaths(related: Pick<RelatedNodes, 'edges'>): RelatedPaths {
  return async (attempt) => {
    const edges = await related.edges(attempt)
    return byCloseness(edges.filter((edge) => edge.node.path !== attempt.node.path))
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
    (one, other) =>
      Number(other.isNeeded) - Number(one.isNeeded) || other.edges - one.edges || (one.path < other.path ? -1 : 1),
  )
  return ranked.map(({ path }) => path)
}
