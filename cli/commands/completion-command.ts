import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import tab from '@bomb.sh/tab/commander'
import { Argument, type Command } from 'commander'
import { z } from 'zod'
import { agentNames } from '#bundles/bundle-files.ts'
import type { CliContext } from '../cli-context.ts'
import { whereWords } from '../run/change-conditions.ts'

type Completion = ReturnType<typeof tab>
type Words = (word: string) => Promise<string[]>

const namesPath = /^<(?:file|folder)>$/

/** Names without a special meaning in any shell, and not options. Other names are not offered. */
const plainName = /^[\w./][\w./@+=,:-]*$/
const Shell = z.enum(['bash', 'zsh', 'fish'])

export function addCompletionCommand(command: Command, { io }: Pick<CliContext, 'io'>): void {
  command
    .addArgument(new Argument('<shell>', 'Shell type for completion script').choices(Shell.options))
    .action((shell) => io.out(completionScripts[Shell.parse(shell)]))
}

export function addCompleteCommand(
  command: Command,
  { cwd, config }: Pick<CliContext, 'cwd' | 'config'>,
  whole: () => Promise<Command>,
): void {
  command.argument('[words...]').action(async (words: string[]) => {
    const program = await whole()
    const completion = tab(program, { completionCommandName: 'completion' })
    const word = words.at(-1) ?? ''
    await offer(completion, program, { word, agents: namesIn(config.agentsDir), paths: pathsIn(cwd) })
    completion.parse(words)
  })
}

type Offer = { word: string; agents: Words; paths: Words }

/** The library completes what commander knows; agents and paths are added here. */
async function offer(completion: Completion, program: Command, { word, agents, paths }: Offer): Promise<void> {
  const [names, offered] = await Promise.all([agents(word), paths(word)])
  const offering = (words: readonly string[]) => (complete: (value: string, about: string) => void) =>
    words.filter((text) => plainName.test(text)).forEach((text) => complete(text, ''))
  const shell = completion.commands.get('completion')?.arguments.get('shell')
  if (shell !== undefined) shell.handler = offering(Shell.options) // the library offers one we have no script for
  for (const [name, command] of commandsUnder(program)) {
    const known = completion.commands.get(name)
    for (const option of command.options) {
      const offeredOption = known?.options.get(option.long?.slice(2) ?? '')
      if (offeredOption === undefined) continue
      if (option.long === '--agents') offeredOption.handler = offering(names)
      if (option.long === '--where') offeredOption.handler = offering(whereWords)
      if (namesPath.test(option.flags.split(' ').at(-1) ?? '')) offeredOption.handler = offering(offered)
    }
    for (const argument of ['path', 'file']) {
      const offeredArgument = known?.arguments.get(argument)
      if (offeredArgument !== undefined) offeredArgument.handler = offering(offered)
    }
  }
}

/** Yields every command with its whole name, as the library knows it: `tool run`. */
function* commandsUnder(command: Command, before = ''): Generator<readonly [string, Command]> {
  for (const inner of command.commands) {
    const name = `${before}${inner.name()}`
    yield [name, inner]
    yield* commandsUnder(inner, `${name} `)
  }
}

/** `lint,do` is completed to `lint,docstring`. */
function namesIn(agentsDir: string | undefined): Words {
  return async (word) => {
    const before = word.slice(0, word.lastIndexOf(',') + 1)
    const given = before.split(',')
    const names = await agentNames(agentsDir)
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

/**
 * Each shell has a script that calls `remora complete -- WORDS…` at TAB. The command prints one offer per line (a TAB and a
 * description may follow) and then a line with a colon. Typed and offered words may be names of an untrusted repository, so
 * nothing of them is ever evaluated. The library's own scripts use `eval`; that is also why there is none for PowerShell.
 */
const completionScripts = {
  // Also for the bash 3.2 of macOS. bash replaces only what follows the last = or : of a word.
  bash: `_remora() {
  local line=\${COMP_LINE:0:COMP_POINT} offer
  local -a words
  IFS=$' \\t' read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  local word=\${words[\${#words[@]} - 1]}
  [[ $word == --*=* ]] && word=\${word#*=}
  local head=\${word%"\${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r offer; do
    offer=\${offer%%$'\\t'*}
    [[ $offer == :* || $offer != "$word"* ]] || COMPREPLY+=("\${offer#"$head"}")
  done < <(remora complete -- "\${words[@]:1}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _remora remora
`,
  zsh: `#compdef remora
_remora() {
  local line
  local -a offers shown
  while IFS= read -r line; do
    [[ $line == :* ]] && continue
    offers+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  }")
  done < <(remora complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  compset -P '--*='
  compadd -d shown -a offers
}
if [[ \${funcstack[1]} == _remora ]]; then _remora; else compdef _remora remora; fi
`,
  fish: `function __remora_offers
    set -l words (commandline -opc) (commandline -ct)
    remora complete -- $words[2..-1] 2>/dev/null | string match -v -- ':*'
end
complete -c remora -f -a '(__remora_offers)'
`,
} as const
