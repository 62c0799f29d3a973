import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { type EventCategory, eventCategories } from '#domain/events/event-table.ts'
import { maxObjectiveCharacters } from '#domain/agenda.ts'
import { figure } from '#domain/figure.ts'
import { faultOfServerUrl } from '#platform/server-urls.ts'
import { AcceptPolicy, BudgetTokens, ErrorPolicyName, type SkipKind, skipKinds, skipKindText } from '#domain/run.ts'
import { ShellCommand } from '#domain/setup.ts'
import { faultOfText } from '#domain/terminal-controls.ts'
import { givenValue } from '#platform/env.ts'
import { isModelServers } from '../model-server.ts'
import type { CliConfig } from '../cli-config.ts'
import type { Submission } from '../run/submit-source.ts'
import type { CliContext } from '../cli-context.ts'

/** `a,b` as a list without empty entries; given twice, both count. */
export function commaList(text: string, before: string[] = []): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return [...before, ...names]
}

export function categoryList(text: string, before: EventCategory[] = []): EventCategory[] {
  const given = z.array(z.enum(eventCategories)).min(1).safeParse(commaList(text))
  if (given.success) return [...before, ...given.data]
  throw new InvalidArgumentError(`It must be categories of events, separated by commas: ${eventCategories.join(', ')}.`)
}

export const eventsFileOption = ['--events-to <file>', 'write every event to a file, one JSON line each'] as const

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

/** A budget: `1500000`, `1.5M` or `1500k`. */
export function tokenCount(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,13}(?:\.\d{1,3})?)([kM]?)$/.exec(text) ?? []
  // As text with an exponent it is exact: 2.05 times a million is not 2,050,000.
  const tokens = Number(`${digits}e${unit === 'M' ? 6 : unit === 'k' ? 3 : 0}`)
  if (BudgetTokens.safeParse(tokens).success) return tokens
  throw new InvalidArgumentError(
    'It must be a whole number of tokens above 0, 1000000M at most, such as 1500000, 1500k or 1.5M.',
  )
}

export function positiveUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = positiveInteger(text)
    if (value > most) throw new InvalidArgumentError(`It must be at most ${most}.`)
    return value
  }
}

/** Decimal, both ends included. */
export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`It must be a number, ${least} to ${most}.`)
    return value
  }
}

function priorityNumber(text: string): number {
  if (!/^\d$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 to 9.')
  return Number(text)
}

/** The default depends on the machine, so the help and the reference give its rule. */
export function workersOption(meaning: string): Option {
  return new Option('--workers <count>', `${meaning} (default: one per two cores)`).argParser(positiveUpTo(64))
}

function acceptOption(): Option {
  const meaning = 'auto: accept the changes that have all the evidence their agent asks for, and write their patch'
  return new Option('--accept <policy>', `${meaning} (default: none)`).choices(AcceptPolicy.options)
}

export function errorPolicyOption(): Option {
  const meaning =
    'when an operation fails: continue, skip the operations that wait for it (the default), or stop the run'
  return new Option('--error-policy <policy>', meaning).choices(ErrorPolicyName.options)
}

export type IncludeOptions = Partial<Record<`include${Capitalize<SkipKind>}`, true>>

export function includeOptions(): Option[] {
  return skipKinds.map(
    (kind) => new Option(`--include-${kind}`, `also ${skipKindText[kind]}, which are skipped by default`),
  )
}

export function includedKinds(options: IncludeOptions, set: readonly SkipKind[] = []): SkipKind[] {
  return skipKinds.filter((kind) => options[flagOf(kind)] === true || set.includes(kind))
}

function flagOf<Kind extends SkipKind>(kind: Kind): `include${Capitalize<Kind>}`
function flagOf(kind: string): string {
  return `include${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a port, 0 to 65535.')
  return Number(text)
}

export function modelChoice(text: string): string {
  if (text === 'rehearsal' || faultOfServerUrl(text) === undefined) return text
  throw new InvalidArgumentError(
    'It must be "rehearsal" or the http(s) URL of a model server, such as http://host:8000/v1.',
  )
}

export function modelServers(text: string): string {
  if (isModelServers(text)) return text
  throw new InvalidArgumentError(
    'It must be "rehearsal" or http(s) URLs of model servers, such as http://host:8000/v1, separated by commas.',
  )
}

export type SubmissionOptions = IncludeOptions &
  Partial<Omit<Submission, 'include' | 'dryRun' | 'verify' | 'approval'>> & {
    verify?: string
    approve?: true
    planOnly?: true
  }

function objectiveText(text: string): string {
  const fault = faultOfText(text, 'lines and tabs')
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`)
  if (text.trim() !== '' && text.length <= maxObjectiveCharacters) return text
  throw new InvalidArgumentError(`It must be a text of at most ${figure(maxObjectiveCharacters)} characters.`)
}

function shellCommand(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('It must be a command, such as "npm test"; leave the option out for none.')
  if (ShellCommand.safeParse(text).success) return text
  throw new InvalidArgumentError('It must be one line of at most 1,000 characters, without control characters.')
}

/** Adds the options of `run` and `submit` about the run, except the `--include-…` flags, which are last in the help. */
export function addSubmissionOptions(command: Command): Command {
  return command
    .option('-a, --agents <names>', 'agents to run, or to plan with, separated by commas', commaList)
    .option('--objective <text>', 'what is to be reached: a model plans which agents do what where', objectiveText)
    .addOption(
      new Option('--plan-only', 'of an objective: make its plan, and do nothing of it').conflicts([
        'apply',
        'out',
        'resume',
      ]),
    )
    .option('--approve', 'of an objective: do nothing of its plan before "remora approve" has approved it')
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--exclude <globs...>', 'leave out files that match one of these')
    .option('--languages <names>', 'only these languages, separated by commas', commaList)
    .option('--kinds <kinds>', 'only nodes of these kinds (function, class, …), separated by commas', commaList)
    .option('--since <revision>', 'only nodes that were added or changed since this git revision')
    .option('--limit <count>', 'at most this many operations', positiveInteger)
    .option('--budget-tokens <count>', 'when its agents have used so many tokens, the run waits for more', tokenCount)
    .addOption(errorPolicyOption())
    .option('--folder-only', 'send the folder without the repository around it, whose rules are not known then')
    .option(
      '--verify <command>',
      'a command, such as the tests, that must not get worse by the changes: run in the sandbox on the original and with them',
      shellCommand,
    )
    .option(
      '--setup <command>',
      'installs what the programs of the repository need, such as "pip install -e .[test]" or "npm ci": in a sandbox that reaches package registries alone',
      shellCommand,
    )
    .addOption(acceptOption())
    .option('--priority <number>', 'priority of this run among others, 0 (first) to 9', priorityNumber)
}

export function addIncludeOptions(command: Command): void {
  for (const option of includeOptions()) command.addOption(option)
}

/** Refuses options of a plan without the objective that it is made for. */
export function refusePlanless(command: Command, { objective, planOnly, approve }: SubmissionOptions): void {
  if (objective !== undefined) return
  const [option] = [planOnly && '--plan-only', approve && '--approve'].filter((given) => given !== undefined)
  if (option !== undefined) command.error(`error: ${option} is for a run with --objective`, { exitCode: 2 })
}

export function submissionOf(
  options: SubmissionOptions,
  { agents, settings }: { agents: string[] | undefined; settings: CliConfig['request'] },
): Submission {
  const { paths = settings.paths, languages = settings.languages, errorPolicy = settings.errorPolicy } = options
  const { objective, exclude, kinds, since, limit, priority, accept, folderOnly } = options
  const { command: settled, ...gate } = settings.verify
  const { verify: command = settled, setup = settings.setup } = options
  const verify = command === undefined ? undefined : { command, ...gate }
  const { budgetTokens = settings.budgetTokens } = options
  const include = includedKinds(options, settings.include)
  const filters = { agents, paths, exclude, languages, kinds, include, since, limit }
  const plan = { objective, dryRun: options.planOnly, approval: options.approve && ('plan' as const) }
  return { ...plan, ...filters, budgetTokens, errorPolicy, priority, accept, verify, setup, folderOnly }
}

const ofOwnStack = ['model', 'workers'] as const

/** Refuses options for a stack where REMORA_API_URL names a service; REMORA_MODEL_URLS only warns, because another command may need it. */
export function refuseWithService(command: Command, { config, io }: Pick<CliContext, 'config' | 'io'>): void {
  if (config.apiUrl === undefined) return
  const given = ofOwnStack.find((name) => command.getOptionValueSource(name) === 'cli')
  if (given !== undefined) {
    const reason = `REMORA_API_URL names a running service, ${config.apiUrl}, which has its own`
    command.error(`error: --${given} cannot be used here: ${reason}`, { exitCode: 2 })
  }
  if (givenValue(config.settings.own, 'REMORA_MODEL_URLS') === undefined) return
  io.err(`REMORA_MODEL_URLS has no effect: the service at ${config.apiUrl} has its own models\n`)
}
