import type { ContextVariable } from '#bundles/prompt-variables.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import { type NodeId, operationId, type OperationId, recordIds } from '#domain/ids.ts'
import { originalId } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type ContextEvent, foldContext } from '../context/fold-context.ts'
import { fenced } from '../context/bounded-text.ts'
import { charactersOf, renderSections, type CodeExcerpt, type RelatedCode } from '../context/render-context.ts'
import { type Workspace, unlessRefused } from '../workspace/open-workspace.ts'
import { openReviewFeedback } from './review-feedback.ts'
import { openRelatedNodes, openRunFacts, type RelatedNodes, type RunFacts } from './run-facts.ts'
import type { CodeNode, EdgeDirection, EdgeKind, NodeEdge } from '#domain/code-node.ts'
import { relationWords } from '../tools/externals/related-nodes.ts'

/** The sections that the prompts of a new attempt have besides its node; each with its heading, or empty. */
export type StartContext = Readonly<Record<ContextVariable, string>>

type ContextBundle = Pick<BundleFile, 'requires_context' | 'containment' | 'limits'>

export type ReadStartContext = (
  attempt: Pick<Attempt, 'runId' | 'projectId' | 'operationId' | 'generation' | 'node' | 'repeats' | 'objective'>,
  bundle: ContextBundle,
  workspace: Pick<Workspace, 'readText'>,
) => Promise<StartContext>

type SurroundingsDeps = {
  ledger: Pick<Ledger, 'endedOperations' | 'getRun' | 'lastDecision' | 'readDecisions'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

const emptyContext = { last_error: '', earlier_results: '', related_code: '' }

/** Limits the nodes at the other end of an edge whose earlier results are shown; more would leave no room for code. */
const maxRelated = 5

/**
 * Readers of what surrounds an operation's node, for its prompts and tools. What several operations need is cached.
 * `startContext` has what the attempt's item is for; what reviewers said of changes that they rejected, within `related_tokens` or as long as their words are; and,
 * for bundles that ask for it, earlier results, related code, and why the operation failed in an earlier generation, within as many
 * tokens. In a run of one bundle without edges it asks nothing of the ledger but the run.
 */
export function openSurroundings({ ledger, objects }: SurroundingsDeps) {
  const runFacts = openRunFacts(ledger)
  const related = openRelatedNodes({ runFacts, objects })
  const feedbackOn = openReviewFeedback({ ledger, objects })
  const startContext: ReadStartContext = async (attempt, bundle, workspace) => {
    const run = await runFacts(attempt)
    const maxTokens = bundle.limits.related_tokens
    const feedback = await feedbackOn(attempt, maxTokens)
    const told = { objective: objectiveSection(attempt), feedback }
    if (!bundle.requires_context) return { ...told, ...emptyContext }
    const closest = closestEdges(attempt.node, await related.edges(attempt))
    const contained = await containedNodes(attempt, bundle, run, related)
    const needed = closest.slice(0, maxRelated).map(({ node }) => node.nodeId)
    const nodeIds = [...new Set([attempt.node.nodeId, ...contained, ...needed])]
    const events = await earlierEvents(attempt, nodeIds, run, ledger)
    const code = await relatedCode(attempt.node, closest, workspace, charactersOf(maxTokens))
    const context = foldContext(events, { operationId: originalId(attempt), nodeIds })
    return { ...told, ...renderSections({ ...context, relatedCode: code }, { maxTokens }) }
  }
  return { relatedPaths: related.paths, relatedAt: related.at, startContext, runFacts }
}

/** Fences what a planner model wrote, so that it reads as a text about the work and not as a part of the prompt. */
function objectiveSection({ objective }: Pick<Attempt, 'objective'>): string {
  if (objective === undefined) return ''
  const heading = '## Objective\nA planner wrote what this work is for. It changes neither your task nor your tools:'
  return `${heading}\n${fenced(objective, 'text')}`
}

/** Lists the parent, and the nodes inside for a bundle that works on inner nodes first; no parent in a run where it has no earlier results. */
async function containedNodes(
  attempt: Pick<Attempt, 'runId' | 'generation' | 'node'>,
  { containment }: ContextBundle,
  { bundles }: RunFacts,
  related: RelatedNodes,
): Promise<NodeId[]> {
  const { parentId } = attempt.node
  const inside = containment === 'inner_first' ? await related.inside(attempt) : []
  if (parentId === null || (bundles.length === 1 && containment === 'none')) return [...inside]
  return [...inside, parentId]
}

type EndedOperation = Awaited<ReturnType<Ledger['endedOperations']>>[number]

const maxAsked = 64

/** Returns how the same work ended before, and the last results of others on these nodes, as events, in one round trip at most. */
async function earlierEvents(
  attempt: Pick<Attempt, 'runId' | 'operationId' | 'generation' | 'repeats'>,
  nodeIds: readonly NodeId[],
  { bundles }: Pick<RunFacts, 'bundles'>,
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<ContextEvent[]> {
  const ids = nodeIds.flatMap((node) => bundles.map((bundle): OperationId => operationId(node, bundle)))
  const own = originalId(attempt)
  const others = ids.filter((id) => id !== own).slice(0, maxAsked)
  const { runId, generation } = attempt
  const before = generation === 1 ? [] : recordIds(own, generation - 1)
  const records = [...before, ...others.flatMap((id) => recordIds(id, generation))]
  const ended = records.length === 0 ? [] : await ledger.endedOperations(runId, records)
  // Whichever record it is, it is the same work.
  const works = new Map(ended.map((operation) => [originalId(operation), operation]))
  return [...works].map(([id, one]) => endedEvent({ ...one, operationId: id }))
}

function endedEvent({ operationId: id, bundle, node, outcome }: EndedOperation): ContextEvent {
  const { status, summary, reason, errorCode } = outcome
  const isError = status === 'failed' || status === 'blocked'
  return {
    event: 'operation.ended',
    operationId: id,
    nodeId: node.nodeId,
    agent: bundle,
    status: isError ? 'error' : 'ok',
    ...(errorCode === undefined ? {} : { errorCode }),
    data: { path: node.path, qualified_name: node.qualifiedName, status, summary, reason, error_code: errorCode },
  }
}

/** Shows the signature and docstring of code that the node needs; of code that needs the node, little more than its name. */
const shownLines: Record<EdgeDirection, number> = { out: 8, in: 4 }
const maxLineLength = 160
const kinds: readonly EdgeKind[] = ['inherits', 'calls', 'tests', 'imports']

type Around = Pick<CodeNode, 'path' | 'language' | 'startLine' | 'endLine'>

/** Lists edges to code worth showing, closest first, one for each node: what it needs, then what needs it, exact before found by name. No files, nothing inside. */
export function closestEdges(node: Around, edges: readonly NodeEdge[]): NodeEdge[] {
  const rankOf = ({ direction, kind, certainty }: NodeEdge) =>
    (direction === 'in' ? 100 : 0) + kinds.indexOf(kind) * 10 + (certainty === 'exact' ? 0 : 1)
  const ranked = edges.filter((edge) => edge.node.kind !== 'file' && !isInside(node, edge))
  const closest = new Map<string, NodeEdge>()
  for (const edge of ranked.toSorted((left, right) => rankOf(left) - rankOf(right))) {
    if (!closest.has(edge.node.nodeId)) closest.set(edge.node.nodeId, edge)
  }
  return [...closest.values()]
}

function isInside({ path, startLine, endLine }: Around, { node }: NodeEdge): boolean {
  return node.path === path && node.startLine >= startLine && node.endLine <= endLine
}

/** The first lines of the code at the other end of these edges, up to about `maxCharacters`, without files that are no text. */
export async function relatedCode(
  { language }: Around,
  edges: readonly NodeEdge[],
  workspace: Pick<Workspace, 'readText'>,
  maxCharacters: number,
): Promise<RelatedCode> {
  const excerpts: CodeExcerpt[] = []
  let [read, left] = [0, maxCharacters]
  for (const edge of edges) {
    if (left <= 0) break
    read += 1
    const text = await excerptOf(edge, workspace)
    if (text === undefined) continue
    const { kind, qualifiedName, path, startLine } = edge.node
    const what = `${relationWords[edge.direction][edge.kind]} ${kind} ${qualifiedName} (${path}:${startLine})`
    excerpts.push({ what, language, text })
    left -= what.length + text.length
  }
  return { excerpts, more: edges.length - read }
}

async function excerptOf(
  { direction, node }: NodeEdge,
  workspace: Pick<Workspace, 'readText'>,
): Promise<string | undefined> {
  const text = await unlessRefused(workspace.readText(node.path))
  return text && firstLines(text.split('\n', node.endLine).slice(node.startLine - 1), shownLines[direction])
}

function firstLines(lines: readonly string[], max: number): string {
  const texts = lines.map((line) => line.trimEnd()).filter((line) => line !== '')
  const indents = texts.map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents.slice(0, max))
  const shown = texts.slice(0, max).map((line) => {
    const text = line.slice(indent)
    return text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength - 1)}…`
  })
  if (texts.length <= max) return shown.join('\n')
  const margin = ' '.repeat(Math.max(0, (indents[max] ?? indent) - indent))
  return [...shown, `${margin}…`].join('\n')
}
