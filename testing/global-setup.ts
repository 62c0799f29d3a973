import type { TestProject } from 'vitest/node'
import { startTestRedis } from './redis.ts'
import { startTestS3 } from './s3.ts'

/** Starts what the whole suite shares, once. Named in vitest.config.ts. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startTestRedis()
  const s3 = await startTestS3().catch(async (error: unknown) => {
    await redis.stop()
    throw error
  })
  project.provide('redisUrl', redis.url)
  project.provide('s3', s3.s3)
  return async () => {
    await s3.stop()
    await redis.stop()
  }
}
