import type { ContextVariable } from '#bundles/context-variables.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import type { NodeId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { foldContext } from '../../context/fold-context.ts'
import { charactersOf, renderSections } from '../../context/render-context.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import { earlierEvents } from './earlier-events.ts'
import { closestEdges, relatedCode } from './related-code.ts'
import type { RelatedNodes } from './related-nodes.ts'
import type { RunFacts } from './run-facts.ts'

export type StartContextDeps = {
  ledger: Pick<Ledger, 'endedOperations'>
  runFacts(runId: string): Promise<RunFacts>
  related: RelatedNodes
}

/** What an attempt that begins anew is told beside its node; each a section with its heading, or empty. */
export type StartContext = Readonly<Record<ContextVariable, string>>

type ContextBundle = Pick<BundleFile, 'requires_context' | 'containment' | 'limits'>

export type ReadStartContext = (
  attempt: Pick<Attempt, 'runId' | 'operationId' | 'node'>,
  bundle: ContextBundle,
  workspace: Pick<Workspace, 'readText'>,
) => Promise<StartContext>

const nothing: StartContext = { last_error: '', earlier_results: '', related_code: '' }

/** Nodes at the other end of an edge whose earlier results are told: more would keep code from being shown. */
const maxRelated = 5

/**
 * Earlier results, related code, and why the operation failed in the run that is tried again, within the bundle's
 * `related_tokens`. In a run of one bundle without edges there is nothing to ask, and nothing is asked.
 */
export function openStartContext({ ledger, runFacts, related }: StartContextDeps): ReadStartContext {
  return async (attempt, bundle, workspace) => {
    if (!bundle.requires_context) return nothing
    const run = await runFacts(attempt.runId)
    const closest = closestEdges(attempt.node, await related.edges(attempt))
    const contained = await containedNodes(attempt, bundle, run, related)
    const needed = closest.slice(0, maxRelated).map(({ node }) => node.nodeId)
    const nodeIds = [...new Set([attempt.node.nodeId, ...contained, ...needed])]
    const events = await earlierEvents(attempt, nodeIds, run, ledger)
    const maxTokens = bundle.limits.related_tokens
    const code = await relatedCode(attempt.node, closest, workspace, charactersOf(maxTokens))
    const context = foldContext(events, { operationId: attempt.operationId, nodeIds })
    return renderSections({ ...context, relatedCode: code }, { maxTokens })
  }
}

/**
 * The node around an attempt's, and for a bundle that works on the inner ones first those: to look for them costs a page
 * of the node list. A bundle that is alone, and waits for none of its own, cannot say that anything came before.
 */
async function containedNodes(
  attempt: Pick<Attempt, 'runId' | 'node'>,
  { containment }: ContextBundle,
  { bundles }: RunFacts,
  related: RelatedNodes,
): Promise<NodeId[]> {
  const { parentId } = attempt.node
  const inside = containment === 'inner_first' ? await related.inside(attempt) : []
  if (parentId === null || (bundles.length === 1 && containment === 'none')) return [...inside]
  return [...inside, parentId]
}
