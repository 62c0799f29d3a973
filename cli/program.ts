import { Command } from 'commander'
import { packageVersion } from '#platform/package-version.ts'
import type { CliContext } from './cli-context.ts'
import { addAgentsCommand } from './commands/agents.ts'
import { addAnswerCommand } from './commands/answer.ts'
import { addCancelCommand } from './commands/cancel.ts'
import { addCheckCommand } from './commands/check.ts'
import { addConfigCommand } from './commands/config.ts'
import { addDiffCommand } from './commands/diff.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addDiscoverCommand } from './commands/discover.ts'
import { addHarnessCommand } from './commands/harness.ts'
import { addHelpCommand } from './commands/help.ts'
import { addQueriesCommand } from './commands/queries.ts'
import { addRetryCommand } from './commands/retry.ts'
import { addRunCommand } from './commands/run.ts'
import { addRunsCommand } from './commands/runs.ts'
import { addShowCommand } from './commands/show.ts'
import { addSubmitCommand } from './commands/submit.ts'
import { addTokenCommand } from './commands/token.ts'
import { addToolCommand } from './commands/tool.ts'
import { addTranscriptCommand } from './commands/transcript.ts'
import { addUpCommand } from './commands/up.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWatchCommand } from './commands/watch.ts'

/**
 * The command line of contract.md §1. Wrong usage and `--help` throw commander's CommanderError; what fails in a command
 * is thrown as it is.
 */
export function buildProgram(given: Omit<CliContext, 'verbose'>): Command {
  const { io } = given
  const program = new Command('remora')
    .description('Small tool-calling agents over a whole repository: one agent run per code node.')
    .version(packageVersion())
    .option('--verbose', 'print debug logs')
    .option('--config <file>', 'settings (default: remora.yaml, from here upwards)')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('See: remora --help')
  const context: CliContext = { ...given, verbose: () => program.opts()['verbose'] === true }
  addRunCommand(program, context)
  addUpCommand(program, context)
  addSubmitCommand(program, context)
  addWatchCommand(program, context)
  addRunsCommand(program, context)
  addShowCommand(program, context)
  addDiffCommand(program, context)
  addTranscriptCommand(program, context)
  addAnswerCommand(program, context)
  addCancelCommand(program, context)
  addRetryCommand(program, context)
  addTokenCommand(program, context)
  addVerifyCommand(program, context)
  addConfigCommand(program, context)
  addDiscoverCommand(program, context)
  addDoctorCommand(program, context)
  addAgentsCommand(program, context)
  addCheckCommand(program, context)
  addToolCommand(program, context)
  addHarnessCommand(program, context)
  addQueriesCommand(program, context)
  addHelpCommand(program)
  addCompletionCommand(program, context)
  for (const command of program.commands) pointToHelp(command, program.name())
  return program
}

/** After wrong usage: where the right one is told. */
function pointToHelp(command: Command, parents: string): void {
  const name = `${parents} ${command.name()}`
  command.showHelpAfterError(`See: ${name} --help`)
  for (const inner of command.commands) pointToHelp(inner, name)
}
