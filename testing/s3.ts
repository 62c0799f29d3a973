import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { startLocalS3 } from './local-s3.ts'

/** How to reach the S3 of the tests; the suite's global setup provides it. */
export type TestS3 = {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

declare module 'vitest' {
  interface ProvidedContext {
    s3?: TestS3
  }
}

/** The S3 that REMORA_TEST_S3_ENDPOINT names (with AWS_… keys), else an embedded one over a temporary folder. */
export async function startTestS3(): Promise<{ s3: TestS3; stop(): Promise<void> }> {
  const given = givenS3(process.env)
  if (given !== undefined) return { s3: given, stop: async () => {} }
  const dir = await mkdtemp(join(tmpdir(), 'remora-s3-'))
  const { pid: _pid, failed: _failed, stop, ...s3 } = await startLocalS3({ dir })
  return {
    s3,
    async stop() {
      await stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

export type TestObjects = Awaited<ReturnType<typeof testObjects>>

/** A real object store for one test file: over the suite's shared S3, or its own when the suite has started none. */
export async function testObjects() {
  const shared = inject('s3')
  const { s3, stop } = shared === undefined ? await startTestS3() : { s3: shared, stop: async () => {} }
  const { accessKeyId, secretAccessKey, ...place } = s3
  const objects = openS3ObjectStore({ ...place, credentials: { accessKeyId, secretAccessKey } })
  const close = async () => {
    objects.close()
    await stop()
  }
  return { objects, project: `p${randomBytes(8).toString('hex')}`, s3, close }
}

function givenS3(env: Readonly<Record<string, string | undefined>>): TestS3 | undefined {
  const endpoint = env['REMORA_TEST_S3_ENDPOINT']
  if (endpoint === undefined || endpoint === '') return undefined
  return {
    endpoint,
    bucket: env['REMORA_TEST_S3_BUCKET'] ?? 'remora',
    region: env['REMORA_TEST_S3_REGION'] ?? 'us-east-1',
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
  }
}
