import type { Argument, Command, Option } from 'commander'
import { readCliConfig } from '../../cli/cli-config.ts'
import { buildProgram } from '../../cli/program.ts'

const notOurs = new Set(['help', 'complete'])

/** The text of docs/reference/cli.md, made from the commands as commander knows them. */
export function cliReference(): string {
  const program = quietProgram()
  const commands = program.commands.flatMap((command) => withInner(command, 'npx remora'))
  return [
    '# Command line',
    '',
    'Every command of `npx remora`. Made from the commands by `node scripts/write-reference.ts`.',
    '',
    'Exit codes: 0 done; 1 the work or the configuration failed; 2 wrong usage; 3 partly done: an operation failed, a change set was left out of the patch, or a decision was refused; 130',
    'interrupted (`up` then exits with 0). With `--json` stdout is one JSON document, or JSON Lines of events with the result last where a command',
    'follows a run; an error is a document too, `{"error":{"error_code","message"}}`. Logs, progress and errors for people',
    'are on stderr.',
    '',
    '## Every command',
    '',
    ...optionRows(program),
    '',
    ...commands.flatMap(({ name, command }) => section(name, command)),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

function quietProgram(): Command {
  const io = { out: () => {}, err: () => {}, exit: () => {} }
  const signal = new AbortController().signal
  return buildProgram({ io, config: readCliConfig({}), signal, terminal: undefined, colored: false, cwd: '.' })
}

type Named = { name: string; command: Command }

/** A command that only groups others has no section of its own. */
function withInner(command: Command, before: string): Named[] {
  if (notOurs.has(command.name())) return []
  const name = `${before} ${command.name()}`
  if (command.commands.length === 0) return [{ name, command }]
  return command.commands.flatMap((inner) => withInner(inner, name))
}

function section(name: string, command: Command): string[] {
  const usage = [name, ...command.registeredArguments.map(shownArgument), '[options]'].join(' ')
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)]
  const title = name.replace(/^npx /, '')
  const table = rows.length === 0 ? [] : ['| | |', '| --- | --- |', ...rows, '']
  return [`## ${title}`, '', sentence(command.description()), '', '```', usage, '```', '', ...table]
}

function optionRows(command: Command): string[] {
  return ['| | |', '| --- | --- |', ...command.options.map(optionRow), '| `-h, --help` | the help of a command |']
}

function shownArgument(argument: Argument): string {
  const shown = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${shown}>` : `[${shown}]`
}

function argumentRow(argument: Argument): string {
  const { description, argChoices, defaultValue } = argument
  return row(shownArgument(argument), description, { argChoices, defaultValue })
}

function optionRow({ flags, description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  return row(flags, description, { argChoices, defaultValue: defaultValueDescription ?? defaultValue })
}

function row(
  shown: string,
  meaning: string,
  more: { argChoices?: string[] | undefined; defaultValue?: unknown },
): string {
  const { argChoices, defaultValue } = more
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`]),
    ...(defaultValue === undefined
      ? []
      : [`default: ${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}`]),
  ]
  const text = [meaning, ...notes].filter((part) => part !== '').join('; ')
  return `| \`${shown}\` | ${text.replaceAll('|', '\\|')} |`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
