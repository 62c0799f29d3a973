import { type Command, InvalidArgumentError } from 'commander'
import { ChangeSetId } from '#domain/change-set.ts'
import { maxReasonCharacters } from '#domain/decision.ts'
import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import type { DecisionsView } from '#schemas/decision-schema.ts'
import type { ApiClient } from '../api-client.ts'
import type { WantedVerdict } from '#schemas/decision-schema.ts'
import { allChanges } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import { requireAgent, type Where, whereForms, withCondition } from '../run/change-conditions.ts'
import { printDecisions, printRetry } from '../run/describe-decisions.ts'
import { findOperations } from '../run/find-operation.ts'
import { type Service, withRuns } from '../run/reach-service.ts'

type DecideOptions = {
  all?: true
  where?: Where
  alsoDecided?: true
  because?: string
  withDependents?: true
  retry?: true
  json?: true
}

/** `remora accept`, `reject` and `undo RUN [OPERATION… | --all | --where EXPR…]`: decisions on change sets, for scripts and people. */
export function decideCommand(verdict: WantedVerdict) {
  return (command: Command, context: CliContext): void => {
    command
      .argument('<run>', 'run id')
      .argument(
        '[operation...]',
        '[AGENT] PATH [NAME] as for "remora diff", or any number of paths and of ids of operations and change sets',
      )
      .option('--all', 'all change sets of the run')
      .option('--where <conditions...>', `those that meet all of these: ${whereForms}`, withCondition)
      .option('--also-decided', 'with --all or --where: also what a person has accepted or rejected before')
      .option('--because <text>', 'why, for those who look at it later', reason)
    if (verdict === 'reject') {
      command.option('--retry', 'have the agents try again with what --because says, when the run has ended')
    }
    command.option('--json', 'print one JSON document')
    if (verdict !== 'accept') {
      command.option('--with-dependents', 'also what is built on them, which otherwise keeps them from it')
    }
    command.action((runId: string, words: string[], options: DecideOptions) => {
      requireOneChoice(words, options, command)
      if (options.alsoDecided && words.length > 0) {
        command.error('error: --also-decided belongs to --all or --where: what is named is decided in any case', {
          exitCode: 2,
        })
      }
      if (options.retry && options.because === undefined) {
        command.error('error: --retry needs --because: what the agents are to be told', { exitCode: 2 })
      }
      return withRuns(context, (service) => decideOn({ runId, words, verdict, options }, service, context))
    })
  }
}

type Deciding = { runId: string; words: readonly string[]; verdict: WantedVerdict; options: DecideOptions }

async function decideOn(
  { runId, words, verdict, options }: Deciding,
  service: Service,
  context: CliContext,
): Promise<void> {
  const { client } = service
  const { where = {}, alsoDecided, because, retry, withDependents, json } = options
  if (words.length === 0) await requireAgent(client, runId, where)
  const chosen = words.length === 0 ? { where, alsoDecided } : { sets: await setsNamed(client, runId, words) }
  const decided = await client.decide(runId, { verdict, reason: because, retry, withDependents, ...chosen })
  if (json) context.io.out(`${JSON.stringify(decided)}\n`)
  else {
    await printDecisions(decided, { client, verdict, context })
    if (retry) printRetry(decided, { isIdle: service.isIdle, context })
  }
  context.io.exit(exitCode(decided))
}

function reason(given: string): string {
  const text = given.trim()
  if (text !== '' && text.length <= maxReasonCharacters) return text
  if (text === '' && given !== '') throw new InvalidArgumentError('It has only blanks: write a word, or leave it out.')
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

/** Returns the change sets that `words` name: by id, or those of operations that were not made anew. RUN_004 when there are none. */
async function setsNamed(client: ApiClient, runId: string, words: readonly string[]): Promise<string[]> {
  const isId = (word: string) => isChangeSet(word) || OperationId.safeParse(word).success
  const others = words.filter((word) => !isChangeSet(word))
  const named = words.every(isId)
    ? words
    : [...words.filter(isChangeSet), ...(await findOperations(client, runId, others))]
  const sets = new Set<string>()
  const redone = new Set<string>()
  for (const id of named) {
    if (isChangeSet(id)) sets.add(id)
    else {
      for await (const { change_set_id: set, is_redone: isRedone } of allChanges(client, runId, id)) {
        ;(isRedone ? redone : sets).add(set)
      }
    }
  }
  if (sets.size > 0) return [...sets]
  const givenWords = words.join(' ')
  if (redone.size > 0) {
    const made = `what "${givenWords}" changed in run ${runId} has been made again since`
    throw new AppError(
      'RUN_004',
      `${made}: to decide on the earlier change sets, name them (${[...redone].join(', ')})`,
      {
        advised: true,
      },
    )
  }
  const message = `In run ${runId} there is no change set of "${givenWords}": "remora diff ${runId} ${givenWords}" says why`
  throw new AppError('RUN_004', message, { advised: true })
}

function isChangeSet(id: string): boolean {
  return ChangeSetId.safeParse(id).success
}

function exitCode({ decisions, refused_count: refused }: DecisionsView): 0 | 1 | 3 {
  if (refused === 0) return 0
  return decisions.length === 0 ? 1 : 3
}
