import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { z } from 'zod'
import { hardenS3rver } from '#platform/harden-s3rver.ts'
import { lockS3rver } from '#platform/lock-s3rver.ts'
import { stopWithParent } from '#platform/shutdown.ts'

// Child process of local-s3.ts: serves the folder argv[2] as bucket argv[3] on a free port, and dies with its parent.
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
hardenS3rver(server.store)
lockS3rver(server, keys)
const { port } = await server.run()
process.send({ port })
