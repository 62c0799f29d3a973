import type { Command } from 'commander'
import type { CliConfig } from '../config.ts'
import type { Submission } from '../run/submit-source.ts'
import {
  commaList,
  errorPolicyOption,
  includedKinds,
  type IncludeOptions,
  includeOptions,
  positiveInteger,
  priorityNumber,
} from './option-parsers.ts'

export type SubmissionOptions = IncludeOptions & {
  agents?: string[]
  paths?: string[]
  exclude?: string[]
  languages?: string[]
  kinds?: string[]
  since?: string
  limit?: number
  errorPolicy?: string
  priority?: number
  folderOnly?: true
}

/** Options of `run` and `submit` about the run, but for the `--include-…` flags, which come last in the help. */
export function addSubmissionOptions(command: Command): Command {
  return command
    .option('-a, --agents <names>', 'agents to run, separated by commas', commaList)
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--exclude <globs...>', 'leave out files that match one of these')
    .option('--languages <names>', 'only these languages, separated by commas', commaList)
    .option('--kinds <kinds>', 'only nodes of these kinds (function, class, …), separated by commas', commaList)
    .option('--since <revision>', 'only nodes that were added or changed since this git revision')
    .option('--limit <count>', 'at most this many operations', positiveInteger)
    .addOption(errorPolicyOption())
    .option('--folder-only', 'send the folder without the repository around it, whose rules are not known then')
    .option('--priority <number>', 'priority of this run among others, 0 (first) to 9', priorityNumber)
}

export function addIncludeOptions(command: Command): void {
  for (const option of includeOptions()) command.addOption(option)
}

/** What is submitted: the options, where they are silent what the settings say. */
export function submissionOf(
  options: SubmissionOptions,
  { agents, settings }: { agents: readonly string[]; settings: CliConfig['request'] },
): Submission {
  const { paths = settings.paths, languages = settings.languages, errorPolicy = settings.errorPolicy } = options
  const { exclude, kinds, since, limit, priority, folderOnly } = options
  return {
    agents,
    accept: 'none',
    include: includedKinds(options, settings.include),
    ...(paths && { paths }),
    ...(exclude && { exclude }),
    ...(languages && { languages }),
    ...(kinds && { kinds }),
    ...(since !== undefined && { since }),
    ...(limit !== undefined && { limit }),
    ...(errorPolicy !== undefined && { errorPolicy }),
    ...(priority !== undefined && { priority }),
    ...(folderOnly === true && { folderOnly }),
  }
}
