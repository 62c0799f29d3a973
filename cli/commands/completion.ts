import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { z } from 'zod'
import type { CliContext } from '../cli-context.ts'
import { bundleNames } from '#bundles/bundle-names.ts'
import { completionScripts } from './completion-scripts.ts'

type Completion = ReturnType<typeof tab>
type Words = (word: string) => Promise<string[]>

const namesPath = /^<(?:file|folder)>$/

/** What no shell takes for more than a name, and no command for an option. Other names are not offered. */
const plainName = /^[\w./][\w./@+=,:-]*$/
const Shell = z.enum(['bash', 'zsh', 'fish'])

/**
 * `remora completion SHELL` prints a script for the shell, which asks the hidden `remora complete -- WORDS…` at every
 * TAB. Added last: it completes the commands there are.
 */
export function addCompletionCommand(
  program: Command,
  { cwd, io, config }: Pick<CliContext, 'cwd' | 'io' | 'config'>,
): void {
  const completion = tab(program, { completionCommandName: 'completion' })
  const added = program.commands.find((command) => command.name() === 'completion')
  added?.description('print the script that completes commands, options, agents and paths in a shell')
  added?.registeredArguments[0]?.choices(Shell.options)
  added?.action((shell) => io.out(completionScripts[Shell.parse(shell)])) // instead of the library's own
  const asked = program.commands.find((command) => command.name() === 'complete')
  asked?.hook('preAction', async (_, { args }) => {
    const word = args.at(-1) ?? ''
    await offer(completion, program, { word, agents: namesIn(config.agentsDir), paths: pathsIn(cwd) })
  })
}

type Offer = { word: string; agents: Words; paths: Words }

/** The library completes what commander knows; agents and paths are what only we know. */
async function offer(completion: Completion, program: Command, { word, agents, paths }: Offer): Promise<void> {
  const [names, places] = await Promise.all([agents(word), paths(word)])
  const offering = (words: readonly string[]) => (complete: (value: string, about: string) => void) =>
    words.filter((one) => plainName.test(one)).forEach((one) => complete(one, ''))
  const shell = completion.commands.get('completion')?.arguments.get('shell')
  if (shell !== undefined) shell.handler = offering(Shell.options) // the library offers one we have no script for
  for (const [name, command] of commandsUnder(program)) {
    const known = completion.commands.get(name)
    for (const option of command.options) {
      const found = known?.options.get(option.long?.slice(2) ?? '')
      if (found === undefined) continue
      if (option.long === '--agents') found.handler = offering(names)
      if (namesPath.test(option.flags.split(' ').at(-1) ?? '')) found.handler = offering(places)
    }
    for (const argument of ['path', 'file']) {
      const found = known?.arguments.get(argument)
      if (found !== undefined) found.handler = offering(places)
    }
  }
}

/** Every command by its whole name, as the library knows it: `tool run`. */
function* commandsUnder(command: Command, before = ''): Generator<readonly [string, Command]> {
  for (const inner of command.commands) {
    const name = `${before}${inner.name()}`
    yield [name, inner]
    yield* commandsUnder(inner, `${name} `)
  }
}

/** `lint,do` is completed to `lint,docstring`. */
function namesIn(agentsDir: string): Words {
  return async (word) => {
    const before = word.slice(0, word.lastIndexOf(',') + 1)
    const given = before.split(',')
    const names = await bundleNames(agentsDir)
    return names.filter((name) => !given.includes(name)).map((name) => `${before}${name}`)
  }
}

function pathsIn(cwd: string): Words {
  return async (word) => {
    const folder = word.slice(0, word.lastIndexOf('/') + 1)
    const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => [])
    const shown = entries.filter(({ name }) => !name.startsWith('.'))
    return shown.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`).toSorted()
  }
}
