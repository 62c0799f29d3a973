import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { ErrorPolicyName, type RunRequest, SkipKind } from '#domain/run.ts'
import { type RepositorySettings, withOwnSettings } from '#settings/github-settings.ts'
import { readSettingsFile } from '#settings/read-settings-file.ts'
import { runSettings } from '#settings/run-settings.ts'

export type RequestSettings = Pick<
  RunRequest,
  'paths' | 'exclude' | 'languages' | 'include' | 'errorPolicy' | 'budget' | 'verify' | 'setup'
>

/** `operator` holds where the file says nothing. */
export type SettingsOwner = { name: string; operator: RepositorySettings }
export type ReadSettings = { settings: RepositorySettings; request: RequestSettings }

/** Other keys are the operator's to say. */
const OwnValues = z.object({
  'discovery.paths': z.array(z.string()).default([]),
  'discovery.exclude': z.array(z.string()).default([]),
  'discovery.languages': z.array(z.string()).default([]),
  'discovery.include': z.array(SkipKind).default([]),
  'execution.error_policy': ErrorPolicyName.default('skip_downstream'),
  'execution.budget_tokens': z.number().optional(),
  'verify.command': z.string().optional(),
  'verify.runs': z.number().default(runSettings.REMORA_VERIFY_RUNS.default),
  'verify.max_runs': z.number().default(runSettings.REMORA_VERIFY_MAX_RUNS.default),
  'verify.limit_s': z.number().default(runSettings.REMORA_VERIFY_LIMIT_S.default),
  'setup.command': z.string().optional(),
})

/** A stranger's YAML of this size takes at most a quarter of a second of one core. */
export const maxSettingsBytes = 16 * 1024

/** CONFIG_002 for a text of more than `maxSettingsBytes`, CONFIG_002 to 004 with the line. What is not for a repository is left aside. */
export function repositorySettingsOf(text: string | undefined, { name, operator }: SettingsOwner): ReadSettings {
  const file = `remora.yaml of ${name}`
  if (text !== undefined && Buffer.byteLength(text) > maxSettingsBytes)
    throw new AppError('CONFIG_002', `${file} is larger than ${maxSettingsBytes} bytes`)
  const given = text === undefined ? [] : readSettingsFile(file, text)
  const values = new Map(given.map(({ setting, value }) => [setting.path.join('.'), value]))
  const request = requestOf(OwnValues.parse(Object.fromEntries(values)))
  if (request.verify?.command.includes('\n') === true) {
    const line = given.find(({ setting }) => setting.path.join('.') === 'verify.command')?.line
    throw new AppError('CONFIG_003', `${file}:${line}: verify.command has more than one line`)
  }
  return { settings: withOwnSettings(operator, values), request }
}

function requestOf(values: z.infer<typeof OwnValues>): RequestSettings {
  const paths = values['discovery.paths']
  const exclude = values['discovery.exclude']
  const languages = values['discovery.languages']
  const include = values['discovery.include']
  const { 'verify.command': command, 'setup.command': setup, 'execution.budget_tokens': tokens } = values
  const limits = { runs: values['verify.runs'], maxRuns: values['verify.max_runs'], limitS: values['verify.limit_s'] }
  return {
    ...(paths.length > 0 && { paths }),
    ...(exclude.length > 0 && { exclude }),
    ...(languages.length > 0 && { languages }),
    ...(include.length > 0 && { include }),
    errorPolicy: values['execution.error_policy'],
    ...(command !== undefined && { verify: { command, ...limits } }),
    ...(setup !== undefined && { setup }),
    ...(tokens !== undefined && { budget: { tokens } }),
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
