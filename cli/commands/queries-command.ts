import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { type PackOptions, printPackCheck, printPackList, printTree, writeManifests } from '../discover/print-packs.ts'
import type { TreeOptions } from '../discover/print-packs.ts'
import { untilAborted } from '#platform/clock.ts'

/** `remora queries check | list | manifest | tree`: checks, lists and records the query packs, and shows syntax trees. */
export function addQueriesCommand(
  program: Command,
  { io, signal, config }: Pick<CliContext, 'io' | 'signal' | 'config'>,
): void {
  const { queries } = config
  const group = program.command('queries').description('check, list and record the query packs; look at syntax trees')
  const addSubcommand = (name: string, description: string, usual: string, work: typeof printPackCheck) =>
    group
      .command(name)
      .description(description)
      .option('--dir <folder>', `folder of the packs, <language>/<pack>/*.scm (default: ${usual})`)
      .option('--json', 'print one JSON document')
      .action((options: PackOptions) => untilAborted(work(options, { queries, io }), signal))
  const both = 'that of Remora, and discovery.queries_dir'
  addSubcommand('check', 'check every pack; exit code 1 on any fault', both, printPackCheck)
  addSubcommand('list', 'list the packs and their node kinds', both, printPackList)
  const own = 'discovery.queries_dir, else that of Remora'
  addSubcommand('manifest', 'write the manifest of every pack', own, writeManifests)
  group
    .command('tree')
    .description('print the syntax tree of a file, as queries see it')
    .argument('<file>', 'source file')
    .option('--language <name>', 'its language, if the file name does not show it')
    .option('--tokens', 'also anonymous nodes: keywords, operators, brackets')
    .action((file: string, options: TreeOptions) => untilAborted(printTree(file, options, io), signal))
}
