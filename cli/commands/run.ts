import { availableParallelism } from 'node:os'
import { Option, type Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { agentNames, builtinAgents } from '../run/known-agents.ts'
import { runOnce } from '../run/run-once.ts'
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
      const known = await agentNames(builtinAgents)
      const { agents = [], json = false, apply = false, ...others } = options
      if (agents.length === 0) {
        command.error(`error: no agents named: choose with --agents from ${known.join(', ')}`, { exitCode: 2 })
      }
      await runOnce({ path, agents, json, apply, known, ...others }, context)
    })
}

/** One per two cores: the rest is for Redis, the object store and the services beside them. */
export function defaultWorkers(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2))
}
