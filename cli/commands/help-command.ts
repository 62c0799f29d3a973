import type { Command } from 'commander'
import { nearest } from '#platform/nearest.ts'

/**
 * `remora help [COMMAND…]`. For an unknown command commander's own would show the help of the whole program without an error.
 */
export function addHelpCommand(program: Command): void {
  program.helpCommand(false)
  program
    .command('help')
    .description('display the help of a command')
    .argument('[command...]', 'command, such as run or queries check')
    .action((names: string[], _options: object, help: Command) => {
      let asked = program
      for (const name of names) {
        const found = asked.commands.find((command) => command.name() === name)
        if (found === undefined) return help.error(unknownCommand(name, asked), { exitCode: 2 })
        asked = found
      }
      return asked.outputHelp()
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
