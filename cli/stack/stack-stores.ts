import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Env } from '#platform/env.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import type { openReleaser } from '#platform/service-process.ts'
import { makeObjectFolder } from '#store/objects/folder-object-store.ts'
import type { StackLock } from './running-stack.ts'

export type StoresOptions = {
  /** Everything lives here and stays: Redis' append-only file, objects, the log. */
  dataDir: string
  redisProgram(): Promise<string>
  environment?: Env
  signal: AbortSignal
}

/** Starts the Redis of the data folder, and makes the folder of its objects. The caller holds the lock. */
export async function startStores(
  { dataDir, redisProgram, environment: env = {}, signal }: StoresOptions,
  { password, lock, releaser }: { password: string; lock: StackLock; releaser: ReturnType<typeof openReleaser> },
) {
  const objects = join(dataDir, 'objects')
  await makeObjectFolder(objects)
  const program = await redisProgram()
  const onProcess = (pid: number) => lock.addChildren([pid])
  const redis = await startLocalRedis({ dir: join(dataDir, 'redis'), env, program, password, onProcess, signal })
  releaser.add('redis', redis.stop)
  return { redis, objectsUrl: pathToFileURL(objects).href }
}
