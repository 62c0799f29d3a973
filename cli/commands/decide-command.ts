import { type Command, InvalidArgumentError } from 'commander'
import { ChangeSetId } from '#domain/change-set.ts'
import { maxReasonCharacters, Verdict } from '#domain/decision.ts'
import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import type { ApiClient, WantedVerdict } from '../api-client.ts'
import { allChanges } from '../api-lists.ts'
import type { DecisionsView } from '../operation-views.ts'
import type { CliContext } from '../cli-context.ts'
import { printDecisions } from '../run/describe-decisions.ts'
import { findOperations } from '../run/find-operation.ts'
import { withRuns } from '../run/reach-service.ts'

const ways: readonly { verdict: WantedVerdict; description: string }[] = [
  { verdict: 'accept', description: 'accept change sets of a run: those of an operation or of a file, some or all' },
  { verdict: 'reject', description: 'reject change sets of a run, and say why' },
  { verdict: 'undo', description: 'take back what was decided on change sets of a run: they are pending again' },
]

/** What each condition of `--where` can be; undefined for any text. */
const conditions: Readonly<Record<string, readonly string[] | undefined>> = {
  agent: undefined,
  path: undefined,
  evidence: ['passed', 'failed', 'unchecked'],
  verdict: Verdict.options,
}

/** Those of `--where` for the completion in a shell. */
export const whereWords = Object.entries(conditions).flatMap(([key, values = ['']]) =>
  values.map((value) => `${key}=${value}`),
)

type Where = Readonly<Record<string, string>>
type DecideOptions = { all?: true; where?: Where; because?: string; json?: true }

/** `remora accept`, `reject` and `undo RUN [OPERATION… | --all | --where EXPR…]`: decisions on change sets, for scripts and people. */
export function addDecideCommands(program: Command, context: CliContext): void {
  for (const { verdict, description } of ways) {
    program
      .command(verdict)
      .description(description)
      .argument('<run>', 'run id')
      .argument(
        '[operation...]',
        'operation id or [AGENT] PATH [NAME], as for "remora diff", or ids of operations and change sets',
      )
      .option('--all', 'all change sets of the run')
      .option(
        '--where <conditions...>',
        `those that meet all of these: agent=NAME, path=GLOB, ${offered('evidence')}, ${offered('verdict')}`,
        withCondition,
      )
      .option('--because <text>', 'why, for those who look at it later', reason)
      .option('--json', 'print one JSON document')
      .action(async (runId: string, words: string[], options: DecideOptions, command: Command) => {
        requireOneChoice(words, options, command)
        const { where = {}, because, json } = options
        await withRuns(context, async ({ client }) => {
          if (words.length === 0) await requireAgent(client, runId, where)
          const sets = words.length === 0 ? undefined : await setsNamed(client, runId, words)
          const chosen = sets === undefined ? { where } : { sets }
          const decided = await client.decide(runId, { verdict, reason: because, ...chosen })
          if (json) context.io.out(`${JSON.stringify(decided)}\n`)
          else await printDecisions(decided, { client, verdict, context })
          context.io.exit(exitCode(decided))
        })
      })
  }
}

function offered(key: string): string {
  return `${key}=${conditions[key]?.join('|') ?? ''}`
}

/** Adds a word of `--where` to those before it. */
function withCondition(word: string, before: Where = {}): Where {
  const [, key = word, value = ''] = /^(?<key>\w+)=(?<value>.+)$/s.exec(word) ?? []
  const known = Object.keys(conditions)
  if (!known.includes(key) || value === '') {
    throw new InvalidArgumentError(`It must be a condition KEY=VALUE, with one of the keys ${known.join(', ')}.`)
  }
  if (before[key] !== undefined) throw new InvalidArgumentError(`It names ${key} a second time.`)
  const values = conditions[key]
  if (values !== undefined && !values.includes(value)) {
    throw new InvalidArgumentError(`The value of ${key} must be one of ${values.join(', ')}.`)
  }
  const fault = key === 'path' ? faultOfGlobs([value]) : undefined
  if (fault !== undefined) throw new InvalidArgumentError(`${fault}.`)
  return { ...before, [key]: value }
}

function reason(text: string): string {
  if (text !== '' && text.length <= maxReasonCharacters) return text
  throw new InvalidArgumentError(`It must have 1 to ${maxReasonCharacters} characters.`)
}

function requireOneChoice(words: readonly string[], { all, where }: DecideOptions, command: Command): void {
  const given = [words.length > 0, all === true, where !== undefined].filter(Boolean).length
  if (given === 1) return
  const choices = 'name an operation, or give --where or --all'
  command.error(`error: ${given === 0 ? `nothing chosen: ${choices}` : `${choices}: only one of them`}`, {
    exitCode: 2,
  })
}

/** Wrong usage when none of the run's agents has the name: the filter would find nothing. */
async function requireAgent(client: ApiClient, runId: string, { agent }: Where): Promise<void> {
  if (agent === undefined) return
  const { agents } = (await client.getRun(runId)).request
  if (agents.includes(agent)) return
  const message = `run ${runId} has no agent "${agent}": it has ${agents.join(', ')}`
  throw new AppError('RUN_002', message, { phase: 'usage' })
}

/**
 * The ids of the change sets that `words` name: those of operations without the sets of operations that a later retry ran again,
 * and a change set by its id in any case. RUN_004 when they have none.
 */
async function setsNamed(client: ApiClient, runId: string, words: readonly string[]): Promise<string[]> {
  const isId = (word: string) => isChangeSet(word) || OperationId.safeParse(word).success
  const ids = words.every(isId) ? words : await findOperations(client, runId, words)
  const sets = new Set<string>()
  for (const id of ids) {
    if (isChangeSet(id)) sets.add(id)
    else {
      for await (const change of allChanges(client, runId, id)) if (!change.is_redone) sets.add(change.change_set_id)
    }
  }
  if (sets.size > 0) return [...sets]
  const named = words.join(' ')
  const message = `In run ${runId} there is no change set of "${named}": "remora diff ${runId} ${named}" says why`
  throw new AppError('RUN_004', message, { advised: true })
}

function isChangeSet(id: string): boolean {
  return ChangeSetId.safeParse(id).success
}

function exitCode({ decisions, refused_count: refused }: DecisionsView): 0 | 1 | 3 {
  if (refused === 0) return 0
  return decisions.length === 0 ? 1 : 3
}
