import type { GitHubAppOptions } from '#code-hosts/github-client.ts'
import { readEnv, type Env } from '#platform/env.ts'
import { SigningKeys } from '#platform/signer.ts'
import { operatorSettings } from '#settings/github-settings.ts'
import { namedModelKind } from '#settings/model-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'

export type PublisherConfig = ReturnType<typeof parseConfig>['config']

/** CONFIG_003 names every variable that is wrong. */
export function parseConfig(env: Env) {
  const read = readEnv({ ...environmentOf('publisher'), REMORA_SIGNING_KEY: SigningKeys }, env)
  const { REMORA_GITHUB_APP_ID: appId, REMORA_GITHUB_PRIVATE_KEY: privateKey, REMORA_PUBLISHER_SECRET: secret } = read
  const apiUrl = read.REMORA_GITHUB_API_URL.replace(/\/$/, '')
  /** Without an app nothing is published to GitHub. */
  const github: Omit<GitHubAppOptions, 'log'> | undefined =
    appId === undefined || privateKey === undefined ? undefined : { appId, privateKey, apiUrl }
  const config = {
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
    repository: operatorSettings(read),
  }
  const logging = { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT }
  const secrets = [...storageSecrets(read), ...read.REMORA_SIGNING_KEY, privateKey, secret].filter(
    (value) => value !== undefined,
  )
  return { config, logging, secrets }
}
