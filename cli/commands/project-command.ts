import { type Command, InvalidArgumentError, Option } from 'commander'
import { ProjectId } from '#domain/ids.ts'
import type { ProjectBudgetView } from '#schemas/project-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import { shortTime } from '../wording.ts'
import { tokenCount } from './shared-options.ts'

type BudgetOptions = { tokensPerDay?: number; unlimited?: true; json?: true }

export function addProjectCommand(projects: Command, context: CliContext): void {
  projects
    .command('create')
    .description('create a project, unless it is there')
    .argument('<id>', projectForm, projectId)
    .option('--json', 'print one JSON document')
    .action(async (id: string, { json }: { json?: true }) => {
      const made = await withRuns(context, ({ client }) => client.createProject(id))
      const next = `"remora token create --project ${made.project_id}" makes a token of it`
      context.io.out(json ? `${JSON.stringify(made)}\n` : `${made.project_id}: ${next}\n`)
    })
  projects
    .command('list')
    .description('list projects')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const page = await withRuns(context, ({ client }) => client.listProjects())
      const lines = page.projects.map((project) => `${project.project_id}${createdAt(project.created_at)}\n`)
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(lines.join('')))
    })
  addBudget(projects, context)
}

function addBudget(projects: Command, context: CliContext): void {
  projects
    .command('budget')
    .description('show or set how many tokens a project may use a day (UTC); then its runs wait for the next day')
    .argument('<id>', projectForm, projectId)
    .option('--tokens-per-day <count>', 'the operator and the project may each set one; the smaller counts', tokenCount)
    .addOption(new Option('--unlimited', 'take back what you have set').conflicts('tokensPerDay'))
    .option('--json', 'print one JSON document')
    .action(async (id: string, { tokensPerDay, unlimited, json }: BudgetOptions) => {
      const budget = await withRuns(context, ({ client }) =>
        tokensPerDay === undefined && !unlimited
          ? client.getProjectBudget(id)
          : client.setProjectBudget(id, tokensPerDay ?? null),
      )
      context.io.out(json ? `${JSON.stringify(budget)}\n` : visible(`${budgetLine(budget)}\n`))
    })
}

/** `shop: 12,345 of 20,000 tokens used today; the day ends 2026-11-28 00:00 UTC` */
function budgetLine(budget: ProjectBudgetView): string {
  const { project_id: id, tokens_per_day: tokens, set_by_operator: operator, set_by_project: own } = budget
  const used = budget.used_today
  const usedText = tokens === null ? plural(used, 'token') : `${figure(used)} of ${plural(tokens, 'token')}`
  const others =
    operator !== null && own !== null ? ` (the operator allows ${figure(operator)}, the project ${figure(own)})` : ''
  const ends = budget.resets_at ? `; the day ends ${shortTime(budget.resets_at)} UTC` : ''
  return `${id}: ${usedText} used today${others}${ends}`
}

const projectForm = '4 to 64 lower-case letters and digits, a letter first'

function projectId(text: string): string {
  if (ProjectId.safeParse(text).success) return text
  throw new InvalidArgumentError(`It must be ${projectForm}.`)
}

function createdAt(time: string | null): string {
  return time === null ? '' : `  created ${shortTime(time)}`
}
