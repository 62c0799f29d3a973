import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyObject } from 'node:crypto'
import S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'
import v4 from '@20minutes/s3rver/lib/signature/v4.js'
import { z } from 'zod'
import { hardenStore, keepSmallObjects } from './local-s3-store.ts'
import { stopWithParent } from '#platform/service-process.ts'

const ownAccessKeyId = 'S3RVER'
const denied =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'

// Child process of local-s3.ts: serves the folder argv[2] as bucket argv[3] on a free port, and ends with its parent.
const [directory, bucket] = process.argv.slice(2)
if (directory === undefined || bucket === undefined || process.send === undefined) {
  throw new Error('local-s3-main.ts is started by local-s3.ts')
}
stopWithParent(async () => {})

const [message]: unknown[] = await once(process, 'message')
const keys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }).parse(message)

// Parts of uploads that never ended: this server knows no AbortMultipartUpload, so they are dropped at the next start.
await rm(join(directory, bucket, '._S3rver_uploads'), { recursive: true, force: true })
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
})
hardenStore(server.store)
keepSmallObjects(server.store)
keepSigningKey()
logNothing(server)
requireSignature(server, keys)
const { port } = await server.run()
process.send({ port })

/** The embedded server has an account whose keys are public, and serves requests without a signature. Here only these keys count. */
function requireSignature({ middleware }: S3rver, own: { accessKeyId: string; secretAccessKey: string }): void {
  account.DUMMY_ACCOUNT.revokeAccessKey(ownAccessKeyId)
  account.DUMMY_ACCOUNT.createKeyPair(own.accessKeyId, own.secretAccessKey)
  middleware.unshift(async (context, next) => {
    if (context.method !== 'OPTIONS' && context.headers['authorization'] !== undefined) return next()
    context.status = 403
    context.type = 'application/xml'
    context.body = denied
  })
}

/** The server computes the key of the day anew for each request. */
function keepSigningKey(): void {
  const compute = v4.getSigningKey
  let last: { of: string; key: Buffer | KeyObject } | undefined
  v4.getSigningKey = (...given) => {
    const of = JSON.stringify(given)
    if (last?.of !== of) last = { of, key: compute(...given) }
    return last.key
  }
}

/** Silent, the server still composes two lines for each request and throws them away. */
function logNothing(s3rver: S3rver): void {
  s3rver.middleware = s3rver.middleware.filter(({ name }) => name !== 'logger')
  s3rver.context.logger = { info() {}, warn() {}, error() {} }
}
