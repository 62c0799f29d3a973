import type { Command } from 'commander'
import { changesWhere } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import { holdTerminal } from '../review/full-screen.ts'
import { summaryLines } from '../review/review-texts.ts'
import { runReview } from '../review/run-review.ts'
import { requireAgent, type Where, whereForms, withCondition } from '../run/change-conditions.ts'
import { withRuns } from '../run/reach-service.ts'
import { visible } from '../terminal-text.ts'
import { isCurrent } from '../run/describe-decisions.ts'

type ReviewOptions = { where?: Where; json?: true }

const forScripts = 'scripts use "remora diff", "remora accept" and "remora reject", or this command with --json'

/** `remora review RUN`: one change set after the other in a terminal, each decided with a key; with `--json` only their list. */
export function addReviewCommand(review: Command, context: CliContext): void {
  review
    .argument('<run>', 'run id')
    .option(
      '--where <conditions...>',
      `which changes, instead of verdict=pending: those that meet all of these: ${whereForms}`,
      withCondition,
    )
    .option('--json', 'print the changes with their evidence as one JSON document, and decide nothing')
    .action(async (runId: string, { where = { verdict: 'pending' }, json }: ReviewOptions, command: Command) => {
      const terminal = json ? undefined : context.interactive?.()
      if (!json && terminal === undefined) {
        command.error(`error: review needs a terminal for its keys and its screen: ${forScripts}`, { exitCode: 2 })
      }
      if (terminal === undefined) return printChanges(runId, where, context)
      const { io } = context
      const { err, release } = holdTerminal(terminal, `loading the changes of run ${visible(runId)} …`, io)
      const held = { ...context, io: { ...io, err } }
      try {
        await withRuns(held, async (service) => {
          await requireAgent(service.client, runId, where)
          const end = await runReview({ runId, where, terminal, beforeScreen: release }, service, held)
          io.out(visible(`${summaryLines(end).join('\n')}\n`))
        })
      } finally {
        release()
      }
    })
}

function printChanges(runId: string, where: Where, context: CliContext): Promise<void> {
  return withRuns(context, async ({ client }) => {
    await requireAgent(client, runId, where)
    const all = await Array.fromAsync(changesWhere(client, runId, where))
    context.io.out(`${JSON.stringify({ run_id: runId, where, changes: all.filter(isCurrent) })}\n`)
  })
}
