import { randomBytes } from 'node:crypto'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { inject } from 'vitest'
import { startTestS3, type TestS3 } from '#testing/s3.ts'
import { openS3Client } from './s3-client.ts'

/** An empty bucket for one test file, in the S3 that the suite shares, or in one of its own where the suite has started none. */
export async function ownBucket(): Promise<{ s3: TestS3; stop(): Promise<void> }> {
  const shared = inject('s3')
  const { s3, stop } = shared === undefined ? await startTestS3() : { s3: shared, stop: async () => {} }
  const bucket = `t${randomBytes(8).toString('hex')}`
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const client = openS3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey } })
  await client.send(new CreateBucketCommand({ Bucket: bucket })).finally(() => client.destroy())
  return { s3: { ...s3, bucket }, stop }
}
