import { InvalidArgumentError } from 'commander'
import { ProofState } from '#domain/change-set.ts'
import { Verdict } from '#domain/decision.ts'
import { AppError } from '#domain/error.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import type { ApiClient } from '../api-client.ts'

/** Says what each condition of `--where` can be; undefined for any text. */
const conditions: Readonly<Record<string, readonly string[] | undefined>> = {
  agent: undefined,
  path: undefined,
  evidence: ProofState.options,
  verdict: Verdict.options,
}

/** Chooses the change sets of a run that meet all of it, the API's filter; all of them when it is empty. */
export type Where = Readonly<Record<string, string>>

export const whereForms = `agent=NAME, path=GLOB, ${offered('evidence')}, ${offered('verdict')}`

export const whereWords = Object.entries(conditions).flatMap(([key, values = ['']]) =>
  values.map((value) => `${key}=${value}`),
)

function offered(key: string): string {
  return `${key}=${conditions[key]?.join('|') ?? ''}`
}

/** Adds a word of `--where` to those before it; InvalidArgumentError for one that is none. */
export function withCondition(word: string, before: Where = {}): Where {
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

/** Says why the conditions can find nothing: none of the run's agents has the name. A run without a list may have any. */
export function faultOfAgent({ agent }: Where, agents: readonly string[]): string | undefined {
  return agent === undefined || agents.length === 0 || agents.includes(agent)
    ? undefined
    : `no agent "${agent}": it has ${agents.join(', ')}`
}

/** Wrong usage when none of the run's agents has the name. */
export async function requireAgent(client: Pick<ApiClient, 'getRun'>, runId: string, where: Where): Promise<void> {
  if (where['agent'] === undefined) return
  const fault = faultOfAgent(where, (await client.getRun(runId)).request.agents)
  if (fault !== undefined) throw new AppError('RUN_002', `run ${runId} has ${fault}`, { phase: 'usage' })
}

/** Returns conditions in one line, as a person types them; a value may have blanks. InvalidArgumentError as for `withCondition`. */
export function readConditions(line: string): Where {
  let where: Where = {}
  for (const word of line.trim().split(/\s+(?=\w+=)/)) if (word !== '') where = withCondition(word, where)
  return where
}

export function conditionsLine(where: Where): string {
  return Object.entries(where)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')
}
