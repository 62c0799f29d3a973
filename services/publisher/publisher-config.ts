import type { GitHubAppOptions } from '#code-hosts/github-client.ts'
import { readEnv, type Env } from '#platform/env.ts'
import { SigningKeys } from '#platform/signer.ts'
import { namedModelKind } from '#settings/model-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'

/** The settings table says what each setting means. */
export type PublisherConfig = ReturnType<typeof parseConfig>['publisher']

/** The part of the environment that the publisher reads. CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv({ ...environmentOf('publisher'), REMORA_SIGNING_KEY: SigningKeys }, env)
  const { REMORA_GITHUB_APP_ID: appId, REMORA_GITHUB_PRIVATE_KEY: privateKey, REMORA_PUBLISHER_SECRET: secret } = read
  const apiUrl = read.REMORA_GITHUB_API_URL.replace(/\/$/, '')
  /** Is undefined when there is no app, and nothing is published to GitHub. */
  const github: Omit<GitHubAppOptions, 'log'> | undefined =
    appId === undefined || privateKey === undefined ? undefined : { appId, privateKey, apiUrl }
  const publisher = {
    health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_PUBLISHER_HEALTH_PORT },
    storage: storageConfig(read),
    signingKeys: read.REMORA_SIGNING_KEY,
    github,
    project: read.REMORA_GITHUB_PROJECT,
    modelKind: namedModelKind(read.REMORA_MODEL_URLS),
    leaseMs: read.REMORA_LEASE_MS,
    pollMs: read.REMORA_GITHUB_POLL_S * 1_000,
    access: { host: read.REMORA_PUBLISHER_HOST, port: read.REMORA_PUBLISHER_PORT, secret },
    publicUrl: read.REMORA_PUBLIC_URL?.replace(/\/$/, ''),
    allowsSetups: read.REMORA_SETUP !== 'off',
    repository: {
      agents: read.REMORA_GITHUB_AGENTS,
      branches: read.REMORA_GITHUB_BRANCHES,
      pullRequests: read.REMORA_GITHUB_PULL_REQUESTS,
      forks: read.REMORA_GITHUB_FORKS,
      ignoreAuthors: read.REMORA_GITHUB_IGNORE_AUTHORS,
      supersede: read.REMORA_GITHUB_SUPERSEDE,
      perAgent: read.REMORA_GITHUB_PER_AGENT,
      draft: read.REMORA_GITHUB_DRAFT,
      labels: read.REMORA_GITHUB_LABELS,
      reviewers: read.REMORA_GITHUB_REVIEWERS,
      schedule: read.REMORA_GITHUB_SCHEDULE,
      timezone: read.REMORA_GITHUB_TIMEZONE,
      maxOpenPulls: read.REMORA_GITHUB_MAX_OPEN_PULLS,
      maxPullsPerDay: read.REMORA_GITHUB_MAX_PULLS_PER_DAY,
      maxFiles: read.REMORA_GITHUB_MAX_FILES,
      maxLines: read.REMORA_GITHUB_MAX_LINES,
      allowWorkflows: read.REMORA_GITHUB_ALLOW_WORKFLOWS,
      allowPaths: read.REMORA_GITHUB_ALLOW_PATHS,
    },
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  const secrets = [...storageSecrets(read), ...read.REMORA_SIGNING_KEY, privateKey, secret].filter(
    (one) => one !== undefined,
  )
  return { publisher, logging, secrets }
}
