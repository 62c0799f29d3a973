import type { Command } from 'commander'
import { hasCode } from '#domain/error.ts'
import { after, delay } from '#platform/clock.ts'
import type { CliContext } from '../cli-context.ts'
import { type Service, withRuns } from '../run/reach-service.ts'

const askEveryMs = 300
/** Usually it takes a second or two. */
const patienceMs = 8_000
const waitingLine =
  'still deleting: files that it may share with others go when no other run of the project is being taken in, planned or composed (the service goes on without this command)\n'

/** `remora delete RUN`: deletes a run that has ended, and waits until nothing of it is left. */
export function addDeleteCommand(program: Command, context: CliContext): void {
  program
    .command('delete')
    .description('delete a run that has ended: its upload, records, events, and files that no other run has')
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { json }: { json?: true }) => {
      const remove = async ({ client, signal }: Service) => {
        await client.deleteRun(runId)
        const cancelLine = after(patienceMs, () => context.io.err(waitingLine))
        try {
          while (await isLeft(() => client.deleteRun(runId))) await delay(askEveryMs, signal)
        } finally {
          cancelLine()
        }
      }
      await withRuns(context, remove, { workers: 0, discovery: true })
      context.io.out(json ? `${JSON.stringify({ run_id: runId, deleted: true })}\n` : `${runId}: deleted\n`)
    })
}

async function isLeft(askAgain: () => Promise<void>): Promise<boolean> {
  try {
    await askAgain()
    return true
  } catch (error) {
    if (hasCode(error, 'RUN_001')) return false
    throw error
  }
}
