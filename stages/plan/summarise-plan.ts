import { dirname } from 'node:path/posix'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { byPath } from '#domain/repo-path.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { charactersPerToken } from '#domain/turn.ts'
import type { AgentPlan, PlanSummary } from '#store/objects/plan-summary.ts'
import { languageName } from '#languages/syntax/grammars.ts'
import { takes } from './node-work.ts'
import { listed } from './require-fitting.ts'
import type { NodeLeftOut, PlannedOperations } from './plan-operations.ts'
import type { PinnedBundle } from './pin-bundles.ts'

const namedExamples = 5
const keptReasons = 50
const keptSkippedFiles = 1_000

/** Tokens of a tool's answer and of a reply: means over the transcripts of the shipped agents. */
const tokensPerTurn = 150

export type PlanFacts = {
  nodes: readonly CodeNode[]
  /** Lists those that are left out because they have not changed; absent where the run is compared with nothing. */
  unchanged?: readonly CodeNode[] | undefined
  bundles: readonly PinnedBundle[]
  planned: PlannedOperations
  skipped: readonly SkippedFile[]
  notices: readonly string[]
}

/** Says for people, per agent, what was looked at, what is planned and where, and what is left out and why. */
export function summarisePlan({ nodes, unchanged, bundles, planned, skipped, notices }: PlanFacts): PlanSummary {
  const all = [...nodes, ...(unchanged ?? [])]
  const isLookedAt = (node: CodeNode) => bundles.some(({ bundle }) => takes(bundle, node))
  const agents = bundles.map(({ bundle }): [string, AgentPlan] => {
    const { name } = bundle.file
    const own = planned.operations.filter((operation) => operation.bundle === name)
    const leftOut = planned.leftOut.filter(({ bundle: of }) => of === name)
    return [name, agentPlan(bundle, { lookedAt: nodes.filter((node) => takes(bundle, node)).length, own, leftOut })]
  })
  return {
    v: 1,
    nodesLookedAt: nodes.filter(isLookedAt).length,
    ...(unchanged && { unchanged: unchanged.filter(isLookedAt).length }),
    beyondLimit: planned.beyondLimit,
    agents: Object.fromEntries(agents),
    skippedFiles: skipped.slice(0, keptSkippedFiles),
    notices: [...new Set([...bundles.flatMap(({ bundle }) => nothingToTake(bundle, all)), ...notices])],
  }
}

/** Says what an agent takes of which nothing is there, so that nobody wonders why it does nothing. */
function nothingToTake(bundle: AgentBundle, nodes: readonly CodeNode[]): string[] {
  if (nodes.some((node) => takes(bundle, node))) return []
  const { name, node_kinds: kinds, languages } = bundle.file
  const isIn = nodes.some(({ language }) => languages.includes(language))
  const what = isIn ? `${listed(kinds)} nodes in ` : ''
  return [`${name} takes ${what}${listed(languages.map(languageName))}: there is nothing of that here`]
}

type Own = { lookedAt: number; own: readonly PlannedOperation[]; leftOut: readonly NodeLeftOut[] }

function agentPlan(bundle: AgentBundle, { lookedAt, own, leftOut }: Own): AgentPlan {
  const folders = Map.groupBy(own, ({ node }) => dirname(node.path))
  return {
    lookedAt,
    planned: own.filter(({ work }) => work === 'agent').length,
    mechanical: own.filter(({ work }) => work === 'mechanical').length,
    estimatedTokens: tokensOf(own, bundle),
    skipped: reasonsOf(leftOut),
    folders: [...folders]
      .map(([path, all]) => ({ path, planned: all.length, estimatedTokens: tokensOf(all, bundle) }))
      .toSorted(byPath),
  }
}

/** Every turn sends the whole conversation, tools included, and an agent takes about as many turns as it has tools that code does not call for it. */
function tokensOf(operations: readonly PlannedOperation[], { file, tools }: AgentBundle): number {
  const { system_prompt: system, node_context: context } = file.initial_context
  const isSubmitted = file.tools.some((tool) => 'submits' in tool && tool.submits)
  const byCode = file.gather.length + (isSubmitted ? 1 : 0)
  const turns = file.turns === 'one' ? 1 : Math.max(1, Math.min(tools.length - byCode, file.limits.max_turns))
  const withModel = operations.filter(({ work }) => work === 'agent')
  const constant = system.length + context.length + JSON.stringify(tools).length
  const characters = withModel.reduce((sum, { node }) => sum + constant + node.endByte - node.startByte, 0)
  const replies = withModel.length * tokensPerTurn * ((turns * (turns + 1)) / 2)
  return Math.ceil((turns * characters) / charactersPerToken + replies)
}

function reasonsOf(leftOut: readonly NodeLeftOut[]): AgentPlan['skipped'] {
  const reasons = [...Map.groupBy(leftOut, ({ reason }) => reason)]
    .map(([reason, nodes]) => ({ reason, count: nodes.length, examples: nodes.slice(0, namedExamples).map(nameOf) }))
    .toSorted((left, right) => right.count - left.count)
  return commonest(reasons, keptReasons)
}

/** Returns the first `most` of the reasons, all others as one of these, so that the sum of the counts stays the same. */
export function commonest(reasons: AgentPlan['skipped'], most: number): AgentPlan['skipped'] {
  if (reasons.length <= most) return reasons
  const others = reasons.slice(most - 1)
  const count = others.reduce((sum, other) => sum + other.count, 0)
  const examples = others.flatMap((other) => other.examples).slice(0, namedExamples)
  return [...reasons.slice(0, most - 1), { reason: 'other reasons', count, examples }]
}

function nameOf({ node }: NodeLeftOut): string {
  return node.parentId === null ? node.path : `${node.path}:${node.startLine} ${node.qualifiedName}`
}
