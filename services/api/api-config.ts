import { z } from 'zod'
import { defaultProject, sha256 } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { readEnv, type Env } from '#platform/env.ts'
import { SigningKeys } from '#platform/signer.ts'
import { githubHost } from '#settings/github-settings.ts'
import { namedModelKind } from '#settings/model-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { storageConfig, storageSecrets } from '#settings/storage-settings.ts'
import { traceConfig, traceSecrets } from '#settings/trace-settings.ts'
import type { AccessToken } from './http/auth.ts'

/** The settings table says what the settings mean. */
export type ApiConfig = Omit<ReturnType<typeof parseConfig>['config'], 'modelKind'> & {
  modelKind?: ModelKind | undefined
  /** Prefix of the ledger's keys and of the queues. */
  namespace?: string
}

export const apiEnv = {
  ...environmentOf('api'),
  REMORA_TOKEN: z.string().min(16, 'at least 16 characters'),
  REMORA_SIGNING_KEY: SigningKeys,
}

/** CONFIG_003 names every variable that is missing or wrong. */
export function parseConfig(env: Env) {
  const read = readEnv(apiEnv, env)
  return {
    config: {
      host: read.REMORA_API_HOST,
      port: read.REMORA_API_PORT,
      health: { host: read.REMORA_HEALTH_HOST, port: read.REMORA_API_HEALTH_PORT },
      tokens: [accessToken(read.REMORA_TOKEN)],
      signingKeys: read.REMORA_SIGNING_KEY,
      agentsDir: read.REMORA_AGENTS_DIR,
      /** The kind of model that answers the agents: the runs are labelled with it. */
      modelKind: namedModelKind(read.REMORA_MODEL_URLS),
      allowsSetups: read.REMORA_SETUP !== 'off',
      maxUploadBytes: read.REMORA_MAX_UPLOAD_BYTES,
      maxUploads: read.REMORA_MAX_UPLOADS,
      requestsPerSecond: read.REMORA_REQUESTS_PER_SECOND,
      tokenLimits: {
        requestsPerMinute: read.REMORA_TOKEN_REQUESTS_PER_MINUTE || null,
        runs: read.REMORA_TOKEN_RUNS || null,
      },
      maxConnections: read.REMORA_MAX_CONNECTIONS,
      redisMemoryShare: read.REMORA_REDIS_MEMORY_SHARE,
      fullPrompts: read.REMORA_FULL_PROMPTS,
      github: {
        webhookSecret: read.REMORA_GITHUB_WEBHOOK_SECRET,
        host: githubHost(read.REMORA_GITHUB_API_URL),
        hasPublisher: read.REMORA_PUBLISHER_URL !== undefined,
      },
      storage: storageConfig(read),
      traces: traceConfig(read),
    },
    logging: { level: read.REMORA_LOG_LEVEL, format: read.REMORA_LOG_FORMAT },
    secrets: [
      read.REMORA_TOKEN,
      read.REMORA_SIGNING_KEY,
      read.REMORA_MODEL_API_KEY ?? [],
      read.REMORA_GITHUB_WEBHOOK_SECRET ?? [],
      storageSecrets(read),
      traceSecrets(read),
    ].flat(),
  }
}

/** The token of the environment as the service keeps it: its hash, and the project of its runs. */
export function accessToken(token: string, projectId: string = defaultProject): AccessToken {
  return { hash: sha256(token), projectId }
}
