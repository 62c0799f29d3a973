import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { PlanView } from '#schemas/plan-schema.ts'
import { joinBlocks } from '../wording.ts'
import { textTable, wrap } from '../terminal-text.ts'
import type { ReportView } from '../progress/result-report.ts'

const shownFolders = 20
const shownFiles = 5
const columns = ['agent', 'nodes looked at', 'with a model', 'without a model', 'estimated tokens']

export function describePlan(plan: PlanView, { paint, width }: ReportView): string {
  const agents = Object.entries(plan.agents).toSorted(([left], [right]) => (left < right ? -1 : 1))
  const rows = agents.map(([name, { looked_at, planned, mechanical, estimated_tokens }]) => [
    name,
    ...[looked_at, planned, mechanical, estimated_tokens].map(figure),
  ])
  const [head = '', ...lines] = textTable([columns, ...rows])
  const wrapped = (block: readonly string[]) => block.flatMap((line) => wrap(line, width))
  return joinBlocks([
    wrapped([headline(plan)]),
    rows.length === 0 ? [] : [paint('dim', head), ...lines],
    wrapped(folderLines(plan)),
    ...agents.map(([name, { skipped }]) => wrapped(skippedLines(name, skipped))),
    wrapped(fileLines(plan)),
    wrapped(plan.notices),
  ])
}

function headline({ agents, nodes_looked_at: nodes, beyond_limit: beyond }: PlanView): string {
  const looked = `Looked at ${plural(nodes, 'node')}. `
  const planned = Object.values(agents).reduce((sum, agent) => sum + agent.planned + agent.mechanical, 0)
  if (planned === 0) return `${looked}Nothing to do: no operation would be run.`
  const tokens = Object.values(agents).reduce((sum, agent) => sum + agent.estimated_tokens, 0)
  const more = beyond === 0 ? '' : `; the limit leaves out ${figure(beyond)} more`
  const would = `${plural(planned, 'operation')} would be run, for about ${plural(tokens, 'token')}${more}`
  return `${looked}${would}. Nothing was done.`
}

/** Returns the folders of all agents together, those with the most operations first. */
function folderLines({ agents }: PlanView): string[] {
  const folders = new Map<string, { planned: number; tokens: number }>()
  for (const { path, planned, estimated_tokens: tokens } of Object.values(agents).flatMap((agent) => agent.folders)) {
    const known = folders.get(path) ?? { planned: 0, tokens: 0 }
    folders.set(path, { planned: known.planned + planned, tokens: known.tokens + tokens })
  }
  const sorted = [...folders].toSorted(([, left], [, right]) => right.planned - left.planned)
  const shown = sorted.slice(0, shownFolders).map(([path, { planned, tokens }]) => {
    return `  ${path}  ${plural(planned, 'operation')}, about ${plural(tokens, 'token')}`
  })
  const rest = sorted.length > shown.length ? [`  … and ${plural(sorted.length - shown.length, 'more folder')}`] : []
  return shown.length === 0 ? [] : ['By folder:', ...shown, ...rest]
}

function skippedLines(agent: string, skipped: PlanView['agents'][string]['skipped']): string[] {
  if (skipped.length === 0) return []
  const lines = skipped.map(({ reason, count, examples }) => {
    const such = examples.length === 0 ? '' : `, such as ${examples.join(', ')}`
    return `  ${plural(count, 'node')}: ${reason}${such}`
  })
  return [`Skipped by ${agent}:`, ...lines]
}

function fileLines({ skipped_files: files }: PlanView): string[] {
  if (files.length === 0) return []
  const lines = files.slice(0, shownFiles).map(({ path, reason }) => `  ${path}  ${reason}`)
  const rest = files.length > lines.length ? [`  … and ${files.length - lines.length} more: --json lists all`] : []
  return ['Files that are not looked into:', ...lines, ...rest]
}
