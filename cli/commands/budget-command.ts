import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { budgetText } from '../run/describe-run.ts'
import { withRuns } from '../run/reach-service.ts'
import { tokenCount } from './shared-options.ts'

type BudgetOptions = { tokens?: number; unlimited?: true; json?: true }

/** `remora budget RUN`: what a run may use, which may be raised while it goes on. */
export function addBudgetCommand(program: Command, context: CliContext): void {
  const command = program
    .command('budget')
    .description('show or set how many tokens a run may use; one that waits for more goes on')
    .argument('<run>', 'run id')
    .option('--tokens <count>', 'so many in all, with what it has used already', tokenCount)
    .option('--unlimited', 'any number')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { tokens, unlimited, json }: BudgetOptions) => {
      if (tokens !== undefined && unlimited)
        command.error('error: --tokens and --unlimited exclude each other', { exitCode: 2 })
      const budget = await withRuns(context, async ({ client }) => {
        if (tokens === undefined && !unlimited) return (await client.getRun(runId)).budget
        return client.setBudget(runId, tokens ?? null)
      })
      const shown = budget ?? { tokens: null, used: 0 }
      const isUsedUp = tokens !== undefined && shown.used >= tokens
      const more = isUsedUp ? ': it is used up, and what needs a model waits for more' : ''
      context.io.out(
        json ? `${JSON.stringify({ run_id: runId, ...shown })}\n` : `${runId}: ${budgetText(shown)}${more}\n`,
      )
    })
}
