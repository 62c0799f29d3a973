import { Command } from 'commander'
import { nearest } from '#platform/nearest.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { CliContext } from './cli-context.ts'
import { addApplyCommand } from './commands/apply-command.ts'
import { addCheckCommand } from './commands/check-command.ts'
import { addConfigCommand } from './commands/config-command.ts'
import { addDecideCommands } from './commands/decide-command.ts'
import { addDiffCommand } from './commands/diff-command.ts'
import { addCompletionCommand } from './commands/completion-command.ts'
import { addDoctorCommand } from './commands/doctor-command.ts'
import { addDiscoverCommand, addQueriesCommand } from './commands/discover-command.ts'
import { addGithubCommand } from './commands/github-command.ts'
import { addHarnessCommand } from './commands/harness-command.ts'
import {
  addAgentsCommand,
  addFindingsCommand,
  addRunsCommand,
  addUsageCommand,
  addWorkersCommand,
} from './commands/list-commands.ts'
import { addPublishCommand } from './commands/publish-command.ts'
import { addReviewCommand } from './commands/review-command.ts'
import { addRetryCommand, addRunCommand } from './commands/run-command.ts'
import { addShowCommand } from './commands/show-command.ts'
import { addAnswerCommand, addBudgetCommand, addCancelCommand, addDeleteCommand } from './commands/steer-commands.ts'
import { addSubmitCommand, addWatchCommand } from './commands/submit-command.ts'
import { addTokenCommand } from './commands/token-command.ts'
import { addProjectCommand } from './commands/project-command.ts'
import { addToolCommand } from './commands/tool-command.ts'
import { addTranscriptCommand } from './commands/transcript-command.ts'
import { addUpCommand } from './commands/up-command.ts'
import { addVerifyCommand } from './commands/verify-command.ts'

const exits = `
Exit codes: 0 done; 1 the work or the configuration failed; 2 wrong usage; 3 partly done: an operation failed, a change set was
left out of the patch, or a decision was refused; 130 interrupted ("up" then exits with 0). With --json stdout is one JSON
document, or JSON Lines of events with the result last where a command follows a run; an error is a document, too.`

/** Builds the commands. Wrong usage and `--help` throw commander's CommanderError; errors of a command are thrown unchanged. */
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
    .addHelpText('after', exits)
  const context: CliContext = { ...given, verbose: () => program.opts()['verbose'] === true }
  addRunCommand(program, context)
  addUpCommand(program, context)
  addSubmitCommand(program, context)
  addWatchCommand(program, context)
  addRunsCommand(program, context)
  addShowCommand(program, context)
  addDiffCommand(program, context)
  addFindingsCommand(program, context)
  addReviewCommand(program, context)
  addDecideCommands(program, context)
  addApplyCommand(program, context)
  addPublishCommand(program, context)
  addTranscriptCommand(program, context)
  addAnswerCommand(program, context)
  addCancelCommand(program, context)
  addBudgetCommand(program, context)
  addRetryCommand(program, context)
  addDeleteCommand(program, context)
  addTokenCommand(program, context)
  addProjectCommand(program, context)
  addGithubCommand(program, context)
  addWorkersCommand(program, context)
  addUsageCommand(program, context)
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

function pointToHelp(command: Command, parents: string): void {
  const name = `${parents} ${command.name()}`
  command.showHelpAfterError(`See: ${name} --help`)
  for (const inner of command.commands) pointToHelp(inner, name)
}

/** Adds `remora help [COMMAND…]`. For an unknown command commander's own would show the program's help without an error. */
function addHelpCommand(program: Command): void {
  program.helpCommand(false)
  program
    .command('help')
    .description('display the help of a command')
    .argument('[command...]', 'command, such as run or queries check')
    .action((names: string[], _options: object, help: Command) => {
      let wanted = program
      for (const name of names) {
        const inner = wanted.commands.find((command) => command.name() === name)
        if (inner === undefined) return help.error(unknownCommand(name, wanted), { exitCode: 2 })
        wanted = inner
      }
      return wanted.outputHelp()
    })
}

/** Speaks in the words of commander for a command line that starts with an unknown command. */
function unknownCommand(name: string, { commands }: Command): string {
  const near = nearest(
    name,
    commands.map((command) => command.name()),
  )
  return `error: unknown command '${name}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`
}
