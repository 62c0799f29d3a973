import { readCliConfig } from '../../cli/cli-config.ts'
import { buildProgram } from '../../cli/program.ts'
import { repositoryRoot } from './source-files.ts'

/** The help of one command of the CLI; `undefined` when there is no such command. Asked once per command. */
export type AskHelp = (words: readonly string[]) => Promise<string | undefined>

/** An unknown command with `--help` also exits with 0 and shows its parent's help: the usage line distinguishes them. */
export function createAskHelp(): AskHelp {
  const answers = new Map<string, Promise<string | undefined>>()
  return (words) => {
    const name = words.join(' ')
    const known = answers.get(name) ?? ask(words)
    answers.set(name, known)
    return known
  }
}

/** In process: starting the command for each would take minutes on a busy machine. `--help` ends it with a throw. */
async function ask(words: readonly string[]): Promise<string | undefined> {
  let out = ''
  const io = { out: (text: string) => void (out += text), err: () => {}, exit: () => {} }
  const signal = new AbortController().signal
  const config = readCliConfig({})
  const context = { io, config, signal, terminal: undefined, colored: false, cwd: repositoryRoot }
  const program = buildProgram({ io, openContext: async () => context })
  await program.parseAsync([...words, '--help'], { from: 'user' }).catch(() => undefined)
  const usage = ['Usage: remora', ...words].join(' ')
  return out.includes(usage) ? out : undefined
}

/** What is wrong with `npx remora <words>` as documented: an unknown command, subcommand or flag. */
export async function commandFault(words: readonly string[], askHelp: AskHelp): Promise<string | undefined> {
  const [command] = words
  if (command === undefined || command.startsWith('-') || command.startsWith('<')) return flagFault([], words, askHelp)
  const help = await askHelp([command])
  if (help === undefined) return `there is no command "remora ${command}"`
  const [, subcommand] = words
  if (!/^Commands:/m.test(help) || subcommand === undefined || !/^[a-z]/.test(subcommand))
    return flagFault([command], words, askHelp)
  if ((await askHelp([command, subcommand])) === undefined)
    return `there is no command "remora ${command} ${subcommand}"`
  return flagFault([command, subcommand], words, askHelp)
}

async function flagFault(
  command: readonly string[],
  words: readonly string[],
  askHelp: AskHelp,
): Promise<string | undefined> {
  const help = `${await askHelp(command)}\n${await askHelp([])}`
  const flags = words.flatMap((word) => /^\[?(--[a-z][a-z-]*)/.exec(word)?.[1] ?? [])
  const unknown = flags.find((flag) => flag !== '--help' && !new RegExp(`(?:^|[\\s,])${flag}\\b(?!-)`, 'm').test(help))
  return unknown === undefined ? undefined : `"remora ${command.join(' ')}" has no flag ${unknown}`
}
