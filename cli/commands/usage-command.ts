import { type Command, InvalidArgumentError } from 'commander'
import type { UsageView } from '#schemas/usage-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { figure, formatSeconds } from '../wording.ts'

type UsageOptions = { since?: string; until?: string; by: string; project?: string; json?: true }

/** `remora usage`: tokens and time by day, agent or project. Other projects need the operator's token. */
export function addUsageCommand(program: Command, context: CliContext): void {
  program
    .command('usage')
    .description('show tokens and time by day, agent or project')
    .option('--since <day>', 'the first day in UTC, as in 2026-11-27 (default: 29 days before the last)', day)
    .option('--until <day>', 'the last day (default: today)', day)
    .option('--by <what>', 'day, agent or project', group, 'day')
    .option('--project <id>', 'of this project (only the operator: the token that the service was started with)')
    .option('--json', 'print one JSON document')
    .action(async ({ since, until, by, project, json }: UsageOptions) => {
      const usage = await withRuns(context, ({ client }) => client.getUsage({ since, until, by, project_id: project }))
      context.io.out(json ? `${JSON.stringify(usage)}\n` : visible(usageLines(usage)))
    })
}

function usageLines({ by, rows, total, since, until }: UsageView): string {
  if (rows.length === 0) return `no operation ended from ${since} to ${until}\n`
  const head = [by, 'operations', 'turns', 'tokens in', 'tokens out', 'time']
  const lines = [...rows, { ...total, of: 'total' }].map((row) => [
    row.of,
    ...[row.operations, row.turns, row.prompt_tokens, row.completion_tokens].map(figure),
    formatSeconds(row.duration_ms),
  ])
  const all = [head, ...lines]
  const widths = head.map((_none, at) => Math.max(...all.map((cells) => cells[at]?.length ?? 0)))
  const padded = (cells: readonly string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')
  return all.map((cells) => `${padded(cells)}\n`).join('')
}

function day(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError('It must be a day, as in 2026-11-27.')
}

function group(text: string): string {
  if (['day', 'agent', 'project'].includes(text)) return text
  throw new InvalidArgumentError('It must be day, agent or project.')
}
