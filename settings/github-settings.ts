import { z } from 'zod'
import { maxObjectiveCharacters } from '#domain/agenda.ts'
import { ProjectId } from '#domain/ids.ts'
import { ScheduleText, TimeZone } from './schedule.ts'
import type { SettingsTable } from './setting.ts'

const webAddress = z.url({ protocol: /^https?$/ })
const secret = z.string().min(16, 'must have at least 16 characters')
const names = z.array(z.string().min(1).max(255)).max(100)
const schedule = z.array(ScheduleText).max(100)
const port = z.int().min(0).max(65_535)

const appSettings = {
  REMORA_GITHUB_APP_ID: {
    key: 'github.app_id',
    owners: ['publisher', 'cli'],
    type: z.string().regex(/^\d{1,20}$/, 'must be the number of the app'),
    about: 'the number of the GitHub App (`remora github setup`); without it nothing is published to GitHub',
  },
  REMORA_GITHUB_PRIVATE_KEY: {
    owners: ['publisher', 'cli'],
    type: z.string(),
    about: 'secret: the private key of the GitHub App, as GitHub gives it (PEM). Only the publisher gets it',
  },
  REMORA_GITHUB_WEBHOOK_SECRET: {
    owners: ['api', 'cli'],
    type: secret,
    about: 'secret: what GitHub signs its webhooks with; without it there is no `/webhooks/github`',
  },
  REMORA_GITHUB_API_URL: {
    key: 'github.api_url',
    owners: ['publisher', 'cli', 'api'],
    type: webAddress,
    default: 'https://api.github.com',
    about: "the address of GitHub's API; of GitHub Enterprise Server `https://HOST/api/v3`",
  },
  REMORA_GITHUB_PROJECT: {
    key: 'github.project',
    owners: ['publisher'],
    type: ProjectId,
    default: 'default',
    about: 'the project that a new installation of the GitHub App belongs to, until the operator says another one',
  },
  REMORA_GITHUB_POLL_S: {
    key: 'github.poll_s',
    owners: ['publisher'],
    type: z.int().min(5).max(86_400),
    default: 300,
    about: 'every so many seconds the publisher asks GitHub for the webhooks that did not arrive',
  },
  REMORA_PUBLISHER_URL: {
    key: 'publisher.url',
    owners: ['discovery', 'api', 'cli'],
    type: webAddress,
    setByStack: true,
    about: 'where discovery asks the publisher for the right to read a repository; without it no code is fetched',
  },
  REMORA_PUBLISHER_SECRET: {
    owners: ['publisher', 'discovery'],
    type: secret,
    setByStack: true,
    about: 'secret: with it discovery proves to the publisher who it is',
  },
  REMORA_PUBLISHER_HOST: {
    key: 'publisher.host',
    owners: ['publisher'],
    type: z.string(),
    default: '127.0.0.1',
    setByStack: true,
    about: 'the address that the publisher listens at for discovery',
  },
  REMORA_PUBLISHER_PORT: {
    key: 'publisher.port',
    owners: ['publisher'],
    type: port,
    default: 8427,
    setByStack: true,
    about: 'the port of that; 0: any free one',
  },
  REMORA_PUBLIC_URL: {
    key: 'api.public_url',
    owners: ['publisher', 'cli'],
    type: webAddress,
    about: 'the address of the API as people reach it: check runs and pull requests link to their runs there',
  },
} satisfies SettingsTable

/** The `remora.yaml` of a repository's default branch overrides these for its pushes and pull requests; other runs are not concerned. */
const repositorySettings = {
  REMORA_GITHUB_AGENTS: {
    key: 'github.agents',
    owners: ['publisher'],
    type: names.min(1),
    default: ['lint', 'docstring'],
    about: 'the agents that work on what was pushed; with `github.objective` a plan is made of these',
  },
  REMORA_GITHUB_OBJECTIVE: {
    key: 'github.objective',
    owners: ['publisher'],
    type: z.string().trim().min(1).max(maxObjectiveCharacters).optional(),
    about: 'what the run of a push is to reach: a model plans what its agents do; none: each does all its work',
  },
  REMORA_GITHUB_APPROVAL: {
    key: 'github.approval',
    owners: ['publisher'],
    type: z.enum(['none', 'plan']),
    default: 'none',
    about: '`plan`: of a run with an objective, nothing of its plan is done before a person approves it',
  },
  REMORA_GITHUB_BRANCHES: {
    key: 'github.branches',
    owners: ['publisher'],
    type: names,
    default: [],
    about: 'globs of the branches whose pushes are worked on; none: only the default branch',
  },
  REMORA_GITHUB_PULL_REQUESTS: {
    key: 'github.pull_requests',
    owners: ['publisher'],
    type: z.boolean(),
    default: true,
    about: "whether people's pull requests get a check run, too",
  },
  REMORA_GITHUB_FORKS: {
    key: 'github.forks',
    owners: ['publisher'],
    type: z.boolean(),
    default: false,
    about: 'whether those from forks do; nothing of a fork is ever set up or published',
  },
  REMORA_GITHUB_IGNORE_AUTHORS: {
    key: 'github.ignore_authors',
    owners: ['publisher'],
    type: names,
    default: ['*[bot]'],
    about: 'globs of the accounts whose pushes and pull requests are not worked on; the app itself never is',
  },
  REMORA_GITHUB_SUPERSEDE: {
    key: 'github.supersede',
    owners: ['publisher'],
    type: z.enum(['finish', 'stop']),
    default: 'finish',
    about:
      'what a newer push does to the run of an older one: operations that run may `finish`, or `stop` as well; the others are cancelled',
  },
  REMORA_GITHUB_PER_AGENT: {
    key: 'github.per_agent',
    owners: ['publisher'],
    type: z.boolean(),
    default: false,
    about: 'whether each agent gets a branch and a pull request of its own',
  },
  REMORA_GITHUB_DRAFT: {
    key: 'github.draft',
    owners: ['publisher'],
    type: z.boolean(),
    default: false,
    about:
      'whether pull requests are opened as drafts; those of a run whose gate has not passed, or that has none, always are',
  },
  REMORA_GITHUB_LABELS: {
    key: 'github.labels',
    owners: ['publisher'],
    type: names,
    default: [],
    about: 'labels of the pull requests',
  },
  REMORA_GITHUB_REVIEWERS: {
    key: 'github.reviewers',
    owners: ['publisher'],
    type: names,
    default: [],
    about: 'who is asked for a review: accounts, and teams as `team:NAME`',
  },
  REMORA_GITHUB_SCHEDULE: {
    key: 'github.schedule',
    owners: ['publisher'],
    type: schedule,
    default: [],
    fromText: (text) => text.split(';').flatMap((pattern) => (pattern.trim() === '' ? [] : [pattern.trim()])),
    // A pattern has commas of its own.
    file: { toVariables: (value) => ({ REMORA_GITHUB_SCHEDULE: schedule.parse(value).join('; ') }) },
    about:
      'when pull requests may be opened or changed, as cron patterns whose minutes are `*`: `* 22-23,0-4 * * 1-5`, `* * * * 0,6`; in the variable separated by semicolons; none: always. Somebody who asks for a pull request gets it at once',
  },
  REMORA_GITHUB_TIMEZONE: {
    key: 'github.timezone',
    owners: ['publisher'],
    type: TimeZone,
    default: 'UTC',
    about: 'the time zone of `github.schedule`, such as `Europe/Berlin`',
  },
  REMORA_GITHUB_MAX_OPEN_PULLS: {
    key: 'github.max_open_pulls',
    owners: ['publisher'],
    type: z.int().min(1).max(100),
    default: 3,
    about: 'the most open pull requests of the app in a repository; over that none is opened',
  },
  REMORA_GITHUB_MAX_PULLS_PER_DAY: {
    key: 'github.max_pulls_per_day',
    owners: ['publisher'],
    type: z.int().min(1).max(1_000),
    default: 10,
    about: 'the most pull requests that are opened in a repository on a day (UTC)',
  },
  REMORA_GITHUB_MAX_FILES: {
    key: 'github.max_files',
    owners: ['publisher'],
    type: z.int().min(1).max(3_000),
    default: 100,
    about: 'the most files of a pull request; what is over it is left for a later one',
  },
  REMORA_GITHUB_MAX_LINES: {
    key: 'github.max_lines',
    owners: ['publisher'],
    type: z.int().min(1).max(100_000),
    default: 2_000,
    about: 'the most lines that a pull request adds and removes together; what is over it is left for a later one',
  },
  REMORA_GITHUB_ALLOW_WORKFLOWS: {
    key: 'github.allow_workflows',
    owners: ['publisher'],
    type: z.boolean(),
    default: false,
    about: 'whether changes of `.github/workflows` may be published (the app then needs the permission `workflows`)',
  },
  REMORA_GITHUB_ALLOW_PATHS: {
    key: 'github.allow_paths',
    owners: ['publisher'],
    type: names,
    default: [],
    about:
      'globs of files that may be published although they act before they are merged: settings of CI, hooks, reviewers, bots and agents, such as `AGENTS.md`; without it such changes are left out',
  },
} satisfies SettingsTable

export const githubSettings = { ...appSettings, ...repositorySettings }

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type RepositoryShape = {
  [
    V in keyof typeof repositorySettings as V extends `REMORA_GITHUB_${infer Name}` ? CamelCase<Lowercase<Name>> : never
  ]: (typeof repositorySettings)[V]['type']
}

function repositoryShape(): RepositoryShape
function repositoryShape(): unknown {
  return Object.fromEntries(Object.values(repositorySettings).map(({ key, type }) => [fieldOf(key), type]))
}

function fieldOf(key: string): string {
  return key.replace('github.', '').replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Says what is done for a repository. The operator gives the values that its own `remora.yaml` does not have. */
export const RepositorySettings = z.object(repositoryShape())
export type RepositorySettings = z.infer<typeof RepositorySettings>

export function operatorSettings(read: Readonly<Record<string, unknown>>): RepositorySettings {
  const named = Object.entries(repositorySettings).map(([variable, { key }]) => [fieldOf(key), read[variable]])
  return RepositorySettings.parse(Object.fromEntries(named))
}

/** Sets those of a `remora.yaml`, whose `values` are by their keys. What is not for a repository to decide is left aside. */
export function withOwnSettings(operator: RepositorySettings, values: ReadonlyMap<string, unknown>) {
  const own = Object.values(repositorySettings).filter(({ key }) => values.has(key))
  const named = own.map(({ key }) => [fieldOf(key), values.get(key)])
  return RepositorySettings.parse({ ...operator, ...Object.fromEntries(named) })
}

/** It is the site of people whose API is at `apiUrl`. */
export function githubSite(apiUrl: string): string {
  return `${new URL(apiUrl).protocol}//${githubHost(apiUrl)}`
}

/** It is `github.com`, or the host of a GitHub of one's own. */
export function githubHost(apiUrl: string): string {
  return new URL(apiUrl).host.replace(/^api\./, '')
}
