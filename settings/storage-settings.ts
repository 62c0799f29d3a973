import { z } from 'zod'
import { RedisUrl } from '#platform/server-urls.ts'
import { holdsSecret } from '#platform/hide-secrets.ts'
import { variablesOf, type Owner, type SettingsTable } from './setting.ts'

const services: Owner[] = ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher']
const secretFault = 'holds a secret: secrets are set in the environment only'
const publicUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !holdsSecret(text), secretFault)
  .refine((text) => !text.includes(','), 'must be without a comma')

export const storageSettings = {
  REMORA_REDIS_URL: {
    key: 'storage.redis_url',
    owners: services,
    type: RedisUrl,
    default: 'redis://127.0.0.1:6379',
    setByStack: true,
    about:
      'Redis ≥ 7 or Valkey, one server or a cluster; set `maxmemory`, `maxmemory-policy noeviction` and `appendonly yes`. `remora up` and `run` bring their own',
    file: {
      type: z.union([z.literal(''), RedisUrl]).refine((text) => !holdsSecret(text), secretFault),
      default: '',
    },
  },
  REMORA_S3_ENDPOINT: {
    key: 'storage.s3.endpoint',
    owners: services,
    type: z.url(),
    setByStack: true,
    about:
      'URL of an S3-compatible server; without it AWS. `file:///FOLDER` keeps the objects in a folder, for services that share one machine: `remora up` and `run` have such a one',
    file: { type: z.union([z.literal(''), publicUrl]), default: '' },
  },
  REMORA_S3_BUCKET: {
    key: 'storage.s3.bucket',
    owners: services,
    type: z.string().min(3),
    default: 'remora',
    setByStack: true,
    about: 'the bucket, which must exist',
  },
  REMORA_S3_REGION: {
    key: 'storage.s3.region',
    owners: services,
    type: z.string(),
    default: 'us-east-1',
    setByStack: true,
    about: 'the region of the bucket',
  },
  REMORA_MAX_INLINE_EVENT_BYTES: {
    key: 'events.max_inline_bytes',
    owners: services,
    type: z
      .int()
      .min(256)
      .max(1024 ** 2),
    default: 16 * 1024,
    about:
      'data of an event with more bytes is kept in the object store and not in Redis; its readers see no difference',
  },
  AWS_ACCESS_KEY_ID: {
    owners: services,
    type: z.string(),
    setByStack: true,
    about: 'key of the object store; without keys they are found as the AWS SDK finds them',
  },
  AWS_SECRET_ACCESS_KEY: {
    owners: services,
    type: z.string(),
    setByStack: true,
    about: 'secret key of the object store',
  },
  AWS_SESSION_TOKEN: {
    owners: services,
    type: z.string(),
    setByStack: true,
    about:
      'secret of temporary keys, which Remora does not renew: for keys that change leave all three `AWS_…` variables empty',
  },
} satisfies SettingsTable

export const storageEnv = variablesOf(storageSettings, 'api')

export type StorageConfig = ReturnType<typeof storageConfig>

type StorageValues = z.infer<z.ZodObject<typeof storageEnv>>

export function storageConfig(values: StorageValues) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = values
  const { AWS_SESSION_TOKEN: sessionToken } = values
  const session = sessionToken === undefined ? {} : { sessionToken }
  const hasKeys = accessKeyId !== undefined && secretAccessKey !== undefined
  return {
    redisUrl: values.REMORA_REDIS_URL,
    events: { maxInlineBytes: values.REMORA_MAX_INLINE_EVENT_BYTES },
    s3: {
      endpoint: values.REMORA_S3_ENDPOINT,
      bucket: values.REMORA_S3_BUCKET,
      region: values.REMORA_S3_REGION,
      /** The AWS SDK looks for them when they are undefined. */
      credentials: hasKeys ? { accessKeyId, secretAccessKey, ...session } : undefined,
    },
  }
}

/** These must never be logged. */
export function storageSecrets(values: StorageValues): string[] {
  return [values.AWS_SECRET_ACCESS_KEY, values.AWS_SESSION_TOKEN].filter((secret) => secret !== undefined)
}
