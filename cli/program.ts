import { Command, Help } from 'commander'
import { nearest } from '#platform/nearest.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { CliContext, CommandIo } from './cli-context.ts'
import { commandList, completeCommand, completionCommand, type ListedCommand } from './command-list.ts'

const exits = `
Exit codes: 0 done; 1 the work or the configuration failed; 2 wrong usage; 3 partly done: an operation failed, an item of the plan
was blocked, a change set was left out of the patch, or a decision was refused; 130 interrupted ("up" then exits with 0). With
--json stdout is one JSON document, or JSON Lines of events with the result last where a command follows a run; an error is a
document, too.`

type Given = {
  io: CommandIo
  /** Is called before the first command that is called or whose help is shown, once. */
  openContext(): Promise<Omit<CliContext, 'verbose'>>
}

/** Builds the commands. Wrong usage and `--help` throw commander's CommanderError; errors of a command are thrown unchanged. */
export function buildProgram({ io, openContext }: Given): Command {
  let opened: Promise<CliContext> | undefined
  const context = () =>
    (opened ??= openContext().then((given) => ({ ...given, verbose: () => program.opts()['verbose'] === true })))
  const whole = async () => {
    const { program: other, fill } = declareCommands(io, commandList, { context, whole })
    await Promise.all(other.commands.map(fill))
    return other
  }
  const { program, fill } = declareCommands(io, [...commandList, completionCommand, completeCommand], {
    context,
    whole,
  })
  program.hook('preSubcommand', (_, command) => fill(command))
  return program
}

type Deps = { context(): Promise<CliContext>; whole(): Promise<Command> }

/** Declares commands by their names alone; `fill` gives one the rest. */
function declareCommands(io: CommandIo, list: readonly ListedCommand[], { context, whole }: Deps) {
  const program = newProgram(io)
  const listed = new Map<Command, ListedCommand>()
  for (const one of list) {
    const [name = ''] = one.form.split(' ')
    listed.set(program.command(name, { hidden: one.about === '' }).description(one.about), one)
  }
  const usual = new Help()
  program.configureHelp({ subcommandTerm: (command) => listed.get(command)?.form ?? usual.subcommandTerm(command) })
  const unfilled = new Map(listed)
  const fill = async (command: Command): Promise<void> => {
    const load = unfilled.get(command)?.load
    if (load === undefined || !unfilled.delete(command)) return
    const [add, given] = await Promise.all([load(), context()])
    add(command, given, whole)
    // commander has given the defaults of `--no-…` before the hook in which a command gets its options.
    for (const option of command.options) {
      if (option.negate) command.setOptionValueWithSource(option.attributeName(), true, 'default')
    }
    pointToHelp(command, program.name())
  }
  addHelpCommand(program, fill)
  return { program, fill }
}

function newProgram(io: CommandIo): Command {
  return new Command('remora')
    .description('Small tool-calling agents over a whole repository: one agent run per code node.')
    .version(packageVersion())
    .option('--verbose', 'print debug logs')
    .option('--config <file>', 'settings (default: remora.yaml, from here upwards)')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('See: remora --help')
    .addHelpText('after', exits)
}

function pointToHelp(command: Command, parents: string): void {
  const name = `${parents} ${command.name()}`
  command.showHelpAfterError(`See: ${name} --help`)
  for (const inner of command.commands) pointToHelp(inner, name)
}

/** Adds `remora help [COMMAND…]`. For an unknown command commander's own would show the program's help without an error. */
function addHelpCommand(program: Command, fill: (command: Command) => Promise<void>): void {
  program.helpCommand(false)
  const help = program
    .command('help')
    .description('display the help of a command')
    .argument('[command...]', 'command, such as run or queries check')
  help.action(async (names: string[]) => {
    let wanted = program
    for (const name of names) {
      const inner = wanted.commands.find((command) => command.name() === name)
      if (inner === undefined) return help.error(unknownCommand(name, wanted), { exitCode: 2 })
      await fill(inner)
      wanted = inner
    }
    return wanted.outputHelp()
  })
  pointToHelp(help, program.name())
}

/** Speaks in the words of commander for a command line that starts with an unknown command. */
function unknownCommand(name: string, { commands }: Command): string {
  const near = nearest(
    name,
    commands.map((command) => command.name()),
  )
  return `error: unknown command '${name}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`
}
