import type { Command } from 'commander'
import type { ErrorPolicyName } from '#domain/run.ts'
import type { CliContext } from '../cli-context.ts'
import { runOnce } from '../run/run-once.ts'
import { commaList, errorPolicyOption, modelChoice, refuseWithService, workersOption } from './shared-options.ts'

type RetryOptions = {
  code?: string[]
  rejected?: true
  errorPolicy?: ErrorPolicyName
  out?: string
  events?: string
  workers: number
  model?: string
  json?: true
}

/** `remora retry RUN [OPERATION…]`: reopens a run for operations that failed, all or some, and follows it to the whole patch. */
export function addRetryCommand(program: Command, context: CliContext): void {
  program
    .command('retry')
    .description(
      'try again what failed in a run that has ended, what was rejected with a reason, or the operations you name; the run goes on',
    )
    .argument('<run>', 'run id')
    .argument('[operations...]', 'operation ids')
    .option(
      '--code <codes>',
      'only what failed or was blocked with one of these error codes, separated by commas',
      commaList,
    )
    .option('--rejected', 'only what was rejected with a reason, which the agents are told')
    .addOption(errorPolicyOption())
    .option('-o, --out <file>', 'where the patch goes (default: remora-<run id>.patch)')
    .option('--events <file>', 'write every event to a file, one JSON line each')
    .addOption(workersOption('worker processes of the embedded stack'))
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelChoice)
    .option('--json', 'print events as JSON Lines, and the result as the last line')
    .action(async (runId: string, operations: string[], given: RetryOptions, command: Command) => {
      refuseWithService(command, context)
      const { json = false, errorPolicy, code: codes, rejected, ...options } = given
      if ([codes, rejected, operations[0]].filter((way) => way !== undefined).length > 1) {
        command.error('error: name operations or give --code or --rejected, only one of them', { exitCode: 2 })
      }
      const named = operations.length === 0 ? undefined : operations
      const choice = { operations: named, codes, rejected, error_policy: errorPolicy }
      const source = { kind: 'retry', runId, choice } as const
      await runOnce({ path: '.', apply: false, known: [], json, ...options, source }, context)
    })
}
