import { Option, type Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runOnce } from '../run/run-once.ts'
import { defaultWorkers } from '../stack/default-workers.ts'
import { namedAgents } from './named-agents.ts'
import { commaList, modelChoice, positiveInteger, positiveUpTo } from './option-parsers.ts'

type RunOptions = {
  agents?: string[]
  paths?: string[]
  limit?: number
  accept: 'none'
  out?: string
  apply?: true
  events?: string
  workers: number
  model?: string
  json?: true
}

/** `remora run`: from a folder to a patch. */
export function addRunCommand(program: Command, context: CliContext): void {
  program
    .command('run')
    .description('run agents over a folder, a git checkout or an archive, and write the patch they propose')
    .argument('[path]', 'what to work on', '.')
    .option('-a, --agents <names>', 'agents to run, separated by commas', commaList)
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--limit <count>', 'at most so many operations', positiveInteger)
    .addOption(
      new Option('--accept <what>', 'which changes are accepted by themselves').choices(['none']).default('none'),
    )
    .option('-o, --out <file>', 'where the patch goes (default: remora-<run id>.patch)')
    .option('--apply', 'apply the patch to the folder')
    .option('--events <file>', 'write every event to a file, one JSON line each')
    .option('--workers <count>', 'worker processes of the embedded stack', positiveUpTo(64), defaultWorkers())
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelChoice)
    .option('--json', 'print events as JSON Lines, and the result as the last line')
    .action(async (path: string, options: RunOptions, command: Command) => {
      const { json = false, apply = false, ...others } = options
      const named = await namedAgents(options.agents, command)
      await runOnce({ path, json, apply, ...others, ...named }, context)
    })
}
