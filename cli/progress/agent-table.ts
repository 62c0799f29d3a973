import type { PlanView } from '#schemas/plan-schema.ts'
import { plural } from '../wording.ts'
import { type Paint, textTable, wrap } from '../terminal-text.ts'
import { operationsOf, type AgentProgress, type PlannedAgent, type ProgressState } from './progress-state.ts'

type Column = { title: string; of(agent: AgentProgress): number; isRare?: true }

/** A rare column is shown only when its figure is above 0 for some agent. */
const columns: readonly Column[] = [
  { title: 'operations', of: operationsOf },
  { title: 'succeeded', of: (agent) => agent.succeeded },
  { title: 'unchanged', of: (agent) => agent.unchanged },
  { title: 'skipped', of: (agent) => agent.skipped, isRare: true },
  { title: 'failed', of: (agent) => agent.failed },
  { title: 'cancelled', of: (agent) => agent.cancelled, isRare: true },
  { title: 'findings', of: (agent) => agent.findings, isRare: true },
  { title: 'left out', of: (agent) => agent.leftOut },
  { title: 'tokens', of: (agent) => agent.tokens },
]

/** A row for each agent: its operations by how they ended, and how many of its change sets are not in the patch. */
export function agentTable({ agents }: ProgressState, paint: Paint): string[] {
  const sorted = Object.entries(agents).toSorted(([one], [other]) => (one < other ? -1 : 1))
  if (sorted.length === 0) return []
  const shown = columns.filter(({ of, isRare }) => isRare !== true || sorted.some(([, agent]) => of(agent) > 0))
  const rows = sorted.map(([name, agent]) => [name, ...shown.map(({ of }) => of(agent).toLocaleString('en-US'))])
  const [head = '', ...lines] = textTable([['agent', ...shown.map(({ title }) => title)], ...rows])
  return [paint('dim', head), ...lines]
}

type PlannedFigures = Pick<
  ProgressState,
  'lookedAt' | 'nodesLookedAt' | 'unchanged' | 'nodes' | 'beyondLimit' | 'total' | 'planned' | 'notices'
>

export function figuresOf({ agents, ...plan }: PlanView): PlannedFigures {
  const planned = Object.entries(agents).map(([name, { looked_at: lookedAt, planned: asked, mechanical, skipped }]) => {
    return [name, { lookedAt, planned: asked, mechanical, skipped }] as const
  })
  const sum = (of: (agent: PlannedAgent) => number) => planned.reduce((total, [, agent]) => total + of(agent), 0)
  return {
    lookedAt: sum((agent) => agent.lookedAt),
    nodesLookedAt: plan.nodes_looked_at,
    beyondLimit: plan.beyond_limit,
    unchanged: plan.unchanged,
    total: sum((agent) => agent.planned + agent.mechanical),
    planned: Object.fromEntries(planned),
    notices: plan.notices,
  }
}

/**
 * Says how many nodes were looked at and how many operations were planned, in all and by agent, with the reasons why nodes got no
 * operation, so that the figures of a line add up; then come the plan's notices. Of many reasons it gives the first, and how many
 * more there are. Is empty when the run has no such figures.
 */
export function plannedLines(state: PlannedFigures, { width }: { width: number }): string[] {
  const { nodesLookedAt, unchanged, nodes, beyondLimit, total, notices } = state
  if (nodesLookedAt === undefined) return []
  const agents = Object.entries(state.planned).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const mechanical = agents.reduce((sum, [, agent]) => sum + agent.mechanical, 0)
  const without = mechanical === 0 ? '' : `, ${mechanical.toLocaleString('en-US')} of them without a model`
  const beyond = beyondLimit === 0 ? '' : `; the limit leaves out ${beyondLimit.toLocaleString('en-US')} more`
  const same = unchanged === undefined ? '' : `, since ${unchanged.toLocaleString('en-US')} have not changed`
  const looked = `Looked at ${someOf(nodesLookedAt, nodes)}${same}: `
  const head = `${looked}${plural(total ?? 0, 'operation')}${without}${beyond}`
  const lines = agents.map(([name, agent]) => `  ${plannedLine(name, agent)}`)
  return [head, ...lines, ...notices.map((notice) => `  ${notice}`)].flatMap((line) => wrap(line, width))
}

/** `596 of 611 nodes`: no agent takes the kind or language of the others, or the run is limited to other nodes. */
function someOf(nodes: number, found = nodes): string {
  return nodes === found ? plural(nodes, 'node') : `${nodes.toLocaleString('en-US')} of ${plural(found, 'node')}`
}

const shownReasons = 3
const reasonCharacters = 60

function cut(reason: string): string {
  if (reason.length <= reasonCharacters) return reason
  const words = reason.slice(0, reasonCharacters)
  return `${words.slice(0, words.lastIndexOf(' ')).replace(/[,:;]$/, '')} …`
}

/**
 * `docstring looked at 573 nodes: 107 operations; none on 204 (is in a test), 156 (has a docstring)`. The number of nodes
 * with operations is added where it differs from that of the operations: a node can have two.
 */
function plannedLine(name: string, { lookedAt, planned, mechanical, skipped }: PlannedAgent): string {
  const operations = planned + mechanical
  const nodes = lookedAt - skipped.reduce((sum, { count }) => sum + count, 0)
  const on = operations === nodes ? '' : ` on ${plural(nodes, 'node')}`
  const shown = skipped.slice(0, skipped.length === shownReasons + 1 ? skipped.length : shownReasons)
  const reasons = shown.map(({ reason, count }) => `${count.toLocaleString('en-US')} (${cut(reason)})`)
  const others = skipped.slice(shown.length)
  const rest = others.reduce((sum, { count }) => sum + count, 0).toLocaleString('en-US')
  const more = others.length === 0 ? '' : `, ${rest} for ${others.length} more reasons (--json has them)`
  const none = reasons.length === 0 ? '' : `; none on ${reasons.join(', ')}${more}`
  return `${name} looked at ${plural(lookedAt, 'node')}: ${plural(operations, 'operation')}${on}${none}`
}
