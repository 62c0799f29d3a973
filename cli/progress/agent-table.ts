import type { PlanView } from '#schemas/plan-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import { costOfEach } from '../wording.ts'
import { type Paint, textTable, wrap } from '../terminal-text.ts'
import { operationsOf, type AgentProgress, type ProgressState } from './progress-state.ts'

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
  { title: 'requests', of: (agent) => agent.requests, isRare: true },
  { title: 'tokens', of: (agent) => agent.tokens },
]

type Funnel = RunView['funnel'][number]

/** Each column has the requests and tokens for each of these changes, and is shown when some agent has any. */
const costs = [
  { title: 'each proposed', of: (funnel: Funnel) => funnel.generated ?? 0 },
  { title: 'each accepted', of: (funnel: Funnel) => funnel.accepted + funnel.accepted_unverified },
]

/** Returns a row for each agent: its operations by how they ended, change sets that are not in the patch, and what it has cost: each change, too, requests before tokens. */
export function agentTable({ agents }: ProgressState, funnel: RunView['funnel'], paint: Paint): string[] {
  const sorted = Object.entries(agents).toSorted(([left], [right]) => (left < right ? -1 : 1))
  if (sorted.length === 0) return []
  const shown = columns.filter(({ of, isRare }) => isRare !== true || sorted.some(([, agent]) => of(agent) > 0))
  const counted = sorted.map(([name, agent]) => [name, ...shown.map(({ of }) => figure(of(agent)))])
  const perChange = costs.flatMap(({ title, of }) => {
    const cells = sorted.map(([name, agent]) => {
      const own = funnel.find((counts) => counts.agent === name)
      return own === undefined ? '' : costOfEach(agent, of(own))
    })
    return cells.some((cell) => cell !== '') ? [{ title, cells }] : []
  })
  const rows = counted.map((row, at) => [...row, ...perChange.map(({ cells }) => cells[at] ?? '')])
  const titles = [...shown, ...perChange].map(({ title }) => title)
  const [head = '', ...lines] = textTable([['agent', ...titles], ...rows])
  return [paint('dim', head), ...lines]
}

/** Says how many nodes were looked at, how many operations were planned, by which agent, and why nodes got none; then come the notices. */
export function plannedLines(plan: PlanView, { width, nodes }: { width: number; nodes?: number }): string[] {
  const { unchanged, beyond_limit: beyondLimit, nodes_looked_at: lookedAt } = plan
  const agents = Object.entries(plan.agents).toSorted(([left], [right]) => (left < right ? -1 : 1))
  const mechanical = agents.reduce((sum, [, agent]) => sum + agent.mechanical, 0)
  const operations = agents.reduce((sum, [, agent]) => sum + agent.planned, mechanical)
  const without = mechanical === 0 ? '' : `, ${figure(mechanical)} of them without a model`
  const beyond = beyondLimit === 0 ? '' : `; the limit leaves out ${figure(beyondLimit)} more`
  const same = unchanged === undefined ? '' : `, since ${figure(unchanged)} have not changed`
  // No agent takes the kind or language of the other nodes, or the run is limited to these.
  const some = nodes === undefined || nodes === lookedAt ? '' : `${figure(lookedAt)} of `
  const head = `Looked at ${some}${plural(nodes ?? lookedAt, 'node')}${same}: ${plural(operations, 'operation')}${without}${beyond}`
  const lines = [...agents.map(([name, agent]) => plannedLine(name, agent)), ...plan.notices]
  return [head, ...lines.map((line) => `  ${line}`)].flatMap((line) => wrap(line, width))
}

const shownReasons = 3
const reasonCharacters = 60

function cut(reason: string): string {
  if (reason.length <= reasonCharacters) return reason
  const words = reason.slice(0, reasonCharacters)
  return `${words.slice(0, words.lastIndexOf(' ')).replace(/[,:;]$/, '')} …`
}

/** Writes `docstring looked at 573 nodes: 107 operations; none on 204 (is in a test), 156 (has a docstring)`; a node can have two operations. */
function plannedLine(name: string, agent: PlanView['agents'][string]): string {
  const { looked_at: lookedAt, planned, mechanical, skipped } = agent
  const operations = planned + mechanical
  const nodes = lookedAt - skipped.reduce((sum, { count }) => sum + count, 0)
  const on = operations === nodes ? '' : ` on ${plural(nodes, 'node')}`
  const shown = skipped.slice(0, skipped.length === shownReasons + 1 ? skipped.length : shownReasons)
  const reasons = shown.map(({ reason, count }) => `${figure(count)} (${cut(reason)})`)
  const others = skipped.slice(shown.length)
  const rest = figure(others.reduce((sum, { count }) => sum + count, 0))
  const more = others.length === 0 ? '' : `, ${rest} for ${others.length} more reasons (--json has them)`
  const none = reasons.length === 0 ? '' : `; none on ${reasons.join(', ')}${more}`
  return `${name} looked at ${plural(lookedAt, 'node')}: ${plural(operations, 'operation')}${on}${none}`
}
