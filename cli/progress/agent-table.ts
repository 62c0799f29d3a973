import { plural } from '../plural.ts'
import { textTable } from '../text-table.ts'
import { clip, type Paint } from './paint.ts'
import { operationsOf, type AgentProgress, type ProgressState } from './progress-state.ts'

type Column = { title: string; of(agent: AgentProgress): number; isRare?: true }

/** A rare column is shown only when it says something of any agent. */
const columns: readonly Column[] = [
  { title: 'operations', of: operationsOf },
  { title: 'succeeded', of: (agent) => agent.succeeded },
  { title: 'unchanged', of: (agent) => agent.unchanged },
  { title: 'skipped', of: (agent) => agent.skipped, isRare: true },
  { title: 'failed', of: (agent) => agent.failed },
  { title: 'cancelled', of: (agent) => agent.cancelled, isRare: true },
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

/** How many nodes were looked at, why some got no operation, by agent, and the plan's notices; empty when the run does not say. */
export function plannedLines(
  { lookedAt, total, planned, notices }: ProgressState,
  { width }: { width: number },
): string[] {
  if (lookedAt === undefined) return []
  const agents = Object.entries(planned).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const mechanical = agents.reduce((sum, [, agent]) => sum + agent.mechanical, 0)
  const without = mechanical === 0 ? '' : `, ${mechanical.toLocaleString('en-US')} of them without a model`
  const head = `Looked at ${plural(lookedAt, 'node')}: ${plural(total ?? 0, 'operation')}${without}`
  const lines = agents.flatMap(([name, { skipped }]) => {
    const reasons = skipped.map(({ reason, count }) => `${plural(count, 'node')} (${reason})`)
    return reasons.length === 0 ? [] : [clip(`  ${name} has nothing to do on ${reasons.join(', ')}`, width)]
  })
  return [head, ...lines, ...notices.map((notice) => clip(`  ${notice}`, width))]
}
