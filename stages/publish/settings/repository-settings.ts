import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { RunRequest } from '#domain/run.ts'
import { repositoryKeys } from '#settings/github-settings.ts'
import { readSettingsFile } from '#settings/read-settings-file.ts'

/** Says what is done for a repository. The operator gives the values that its own `remora.yaml` does not have. */
export const RepositorySettings = z.object({
  agents: z.array(z.string()),
  branches: z.array(z.string()),
  pullRequests: z.boolean(),
  forks: z.boolean(),
  ignoreAuthors: z.array(z.string()),
  supersede: z.enum(['finish', 'stop']),
  perAgent: z.boolean(),
  draft: z.boolean(),
  labels: z.array(z.string()),
  reviewers: z.array(z.string()),
  schedule: z.array(z.string()),
  timezone: z.string(),
  maxOpenPulls: z.int(),
  maxPullsPerDay: z.int(),
  maxFiles: z.int(),
  maxLines: z.int(),
  allowWorkflows: z.boolean(),
  allowPaths: z.array(z.string()),
})
export type RepositorySettings = z.infer<typeof RepositorySettings>

/** Holds what a run of the repository is asked for besides its agents. */
export type RequestSettings = Pick<
  RunRequest,
  'paths' | 'exclude' | 'languages' | 'include' | 'errorPolicy' | 'budget' | 'verify' | 'setup'
>

/** Names the repository whose `remora.yaml` is read. `operator` holds where the file says nothing. */
export type SettingsOwner = { name: string; operator: RepositorySettings }
export type ReadSettings = { settings: RepositorySettings; request: RequestSettings }

/** Keys of `remora.yaml` that say what a run is asked for; others are the operator's to say. */
const requestKeys = {
  paths: 'discovery.paths',
  exclude: 'discovery.exclude',
  languages: 'discovery.languages',
  include: 'discovery.include',
  errorPolicy: 'execution.error_policy',
  budget: 'execution.budget_tokens',
  command: 'verify.command',
  runs: 'verify.runs',
  maxRuns: 'verify.max_runs',
  limitS: 'verify.limit_s',
  setup: 'setup.command',
} as const

const Asked = z
  .object({
    paths: z.array(z.string()),
    exclude: z.array(z.string()),
    languages: z.array(z.string()),
    include: z.array(z.enum(['vendored', 'generated', 'submodules', 'migrations', 'snapshots', 'ignored', 'secrets'])),
    errorPolicy: z.enum(['continue', 'skip_downstream', 'stop_run']),
    budget: z.number(),
    command: z.string(),
    runs: z.number(),
    maxRuns: z.number(),
    limitS: z.number(),
    setup: z.string(),
  })
  .partial()

/** A stranger's YAML of this size takes at most a quarter of a second of one core. */
export const maxSettingsBytes = 16 * 1024

/**
 * Reads the `remora.yaml` of a repository's default branch; undefined: it has none. CONFIG_002 for one of more than
 * `maxSettingsBytes`, CONFIG_002 to 004, with the line, for one that is wrong. Keys that are not for a repository to decide
 * are left aside.
 */
export function repositorySettingsOf(text: string | undefined, { name, operator }: SettingsOwner): ReadSettings {
  const file = `remora.yaml of ${name}`
  if (text !== undefined && Buffer.byteLength(text) > maxSettingsBytes)
    throw new AppError('CONFIG_002', `${file} is larger than ${maxSettingsBytes} bytes`)
  const given = text === undefined ? [] : readSettingsFile(file, text)
  const values = new Map(given.map(({ setting, value }) => [setting.path.join('.'), value]))
  const own = [...values].filter(([key]) => repositoryKeys.includes(key))
  const named = Object.fromEntries(own.map(([key, value]) => [camelCase(key.replace('github.', '')), value]))
  const asked = Object.entries(requestKeys).flatMap(([field, key]) =>
    values.has(key) ? [[field, values.get(key)] as const] : [],
  )
  const request = requestOf(Asked.parse(Object.fromEntries(asked)))
  if (request.verify?.command.includes('\n') === true) {
    const line = given.find(({ setting }) => setting.path.join('.') === requestKeys.command)?.line
    throw new AppError('CONFIG_003', `${file}:${line}: verify.command has more than one line`)
  }
  return { settings: RepositorySettings.parse({ ...operator, ...named }), request }
}

function requestOf(asked: z.infer<typeof Asked>): RequestSettings {
  const { command, runs = 2, maxRuns = 200, limitS = 1_800, budget, setup, errorPolicy = 'skip_downstream' } = asked
  return {
    ...lists(asked),
    errorPolicy,
    ...(command === undefined ? {} : { verify: { command, runs, maxRuns, limitS } }),
    ...(setup === undefined ? {} : { setup }),
    ...(budget === undefined ? {} : { budget: { tokens: budget } }),
  }
}

function lists({ paths = [], exclude = [], languages = [], include = [] }: z.infer<typeof Asked>) {
  return {
    ...(paths.length > 0 && { paths }),
    ...(exclude.length > 0 && { exclude }),
    ...(languages.length > 0 && { languages }),
    ...(include.length > 0 && { include }),
  }
}

/** Says why nothing is done for a branch; undefined means that it is worked on. */
export function whyNotBranch(
  branch: string,
  defaultBranch: string,
  { branches }: RepositorySettings,
): string | undefined {
  const isWanted = branches.length === 0 ? branch === defaultBranch : pathGlobs(branches)(branch)
  const wanted = branches.length === 0 ? `the default branch ${defaultBranch}` : branches.join(', ')
  return isWanted ? undefined : `only ${wanted} is worked on (github.branches)`
}

export function isIgnoredAuthor(login: string, { ignoreAuthors }: RepositorySettings): boolean {
  // Square brackets are a class of characters in a glob, and part of the names of apps.
  return pathGlobs(ignoreAuthors.map((glob) => glob.replaceAll('[', '\\[').replaceAll(']', '\\]')))(login)
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
