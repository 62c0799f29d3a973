import { Command } from 'commander'
import { nearest } from '#platform/nearest.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { CliContext } from './cli-context.ts'

type Add = (program: Command, context: CliContext) => void

/** Lists the commands in the order of the help. The modules of the others are not loaded for one: together they take most of a second. */
const commands: readonly { names: readonly string[]; load(): Promise<Add> }[] = [
  { names: ['run'], load: async () => (await import('./commands/run-command.ts')).addRunCommand },
  { names: ['up'], load: async () => (await import('./commands/up-command.ts')).addUpCommand },
  { names: ['submit'], load: async () => (await import('./commands/submit-command.ts')).addSubmitCommand },
  { names: ['watch'], load: async () => (await import('./commands/submit-command.ts')).addWatchCommand },
  { names: ['runs'], load: async () => (await import('./commands/list-commands.ts')).addRunsCommand },
  { names: ['show'], load: async () => (await import('./commands/show-command.ts')).addShowCommand },
  { names: ['diff'], load: async () => (await import('./commands/diff-command.ts')).addDiffCommand },
  { names: ['findings'], load: async () => (await import('./commands/list-commands.ts')).addFindingsCommand },
  { names: ['review'], load: async () => (await import('./commands/review-command.ts')).addReviewCommand },
  {
    names: ['accept', 'reject', 'undo'],
    load: async () => (await import('./commands/decide-command.ts')).addDecideCommands,
  },
  { names: ['apply'], load: async () => (await import('./commands/apply-command.ts')).addApplyCommand },
  { names: ['publish'], load: async () => (await import('./commands/publish-command.ts')).addPublishCommand },
  { names: ['transcript'], load: async () => (await import('./commands/transcript-command.ts')).addTranscriptCommand },
  { names: ['answer'], load: async () => (await import('./commands/steer-commands.ts')).addAnswerCommand },
  { names: ['cancel'], load: async () => (await import('./commands/steer-commands.ts')).addCancelCommand },
  { names: ['budget'], load: async () => (await import('./commands/steer-commands.ts')).addBudgetCommand },
  { names: ['retry'], load: async () => (await import('./commands/run-command.ts')).addRetryCommand },
  { names: ['delete'], load: async () => (await import('./commands/steer-commands.ts')).addDeleteCommand },
  { names: ['token'], load: async () => (await import('./commands/token-command.ts')).addTokenCommand },
  { names: ['project'], load: async () => (await import('./commands/project-command.ts')).addProjectCommand },
  { names: ['github'], load: async () => (await import('./commands/github-command.ts')).addGithubCommand },
  { names: ['workers'], load: async () => (await import('./commands/list-commands.ts')).addWorkersCommand },
  { names: ['usage'], load: async () => (await import('./commands/list-commands.ts')).addUsageCommand },
  { names: ['verify'], load: async () => (await import('./commands/verify-command.ts')).addVerifyCommand },
  { names: ['config'], load: async () => (await import('./commands/config-command.ts')).addConfigCommand },
  { names: ['discover'], load: async () => (await import('./commands/discover-command.ts')).addDiscoverCommand },
  { names: ['doctor'], load: async () => (await import('./commands/doctor-command.ts')).addDoctorCommand },
  { names: ['agents'], load: async () => (await import('./commands/list-commands.ts')).addAgentsCommand },
  { names: ['check'], load: async () => (await import('./commands/check-command.ts')).addCheckCommand },
  { names: ['tool'], load: async () => (await import('./commands/tool-command.ts')).addToolCommand },
  { names: ['harness'], load: async () => (await import('./commands/harness-command.ts')).addHarnessCommand },
  { names: ['queries'], load: async () => (await import('./commands/discover-command.ts')).addQueriesCommand },
]

const exits = `
Exit codes: 0 done; 1 the work or the configuration failed; 2 wrong usage; 3 partly done: an operation failed, a change set was
left out of the patch, or a decision was refused; 130 interrupted ("up" then exits with 0). With --json stdout is one JSON
document, or JSON Lines of events with the result last where a command follows a run; an error is a document, too.`

/**
 * Builds the one command that `args` call, or all where they call none of these. Wrong usage and `--help` throw commander's
 * CommanderError; errors of a command are thrown unchanged.
 */
export async function buildProgram(given: Omit<CliContext, 'verbose'>, args: readonly string[] = []): Promise<Command> {
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
  const called = commands.find(({ names }) => names.includes(commandIn(args) ?? ''))
  const adds = await Promise.all((called === undefined ? commands : [called]).map(({ load }) => load()))
  for (const add of adds) add(program, context)
  if (called === undefined) {
    addHelpCommand(program)
    const { addCompletionCommand } = await import('./commands/completion-command.ts')
    addCompletionCommand(program, context)
  }
  for (const command of program.commands) pointToHelp(command, program.name())
  return program
}

/** Returns the first word that is neither an option of the program nor the value of one. */
function commandIn(args: readonly string[]): string | undefined {
  return args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '--config')
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
