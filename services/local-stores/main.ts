import '#platform/lean-v8.ts'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppError } from '#domain/error.ts'
import { type FolderLock, lockFolder } from '#platform/folder-lock.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { makeFolder } from '#platform/own-file.ts'
import { redisServer } from '#platform/known-programs.ts'
import { putProgramOnPath } from '#platform/obtain-program.ts'
import { makeObjectFolder } from '#store/objects/folder-object-store.ts'
import { exitOnSignal, openReleaser, runService } from '#platform/service-process.ts'

async function takeFolder(folder: string): Promise<FolderLock> {
  try {
    await makeFolder(folder, 0o700)
    return await lockFolder(join(folder, 'stores.lock'), (holder) => {
      return new AppError(
        'CONFIG_006',
        `${holder} already runs the stores in ${folder}: stop it, or name another folder`,
      )
    })
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('CONFIG_003', `the folder ${folder} cannot be used: ${String(error)}`, { cause: error })
  }
}

/*
 * A Redis and a folder for objects, to try the services one by one on this machine: `node scripts/service.mjs local-stores FOLDER`. Redis
 * keeps its data there, too, and listens on 127.0.0.1 only. Where they are, and the password, which is new at each start, is written to
 * FOLDER/env, as the services read it. Not for production: what they keep is on one disk.
 */
await runService(async () => {
  const folder = resolve(process.argv[3] ?? '.remora-stores')
  const releaser = openReleaser()
  try {
    const lock = await takeFolder(folder)
    releaser.add('lock', lock.release)
    await putProgramOnPath(redisServer, process.env)
    const redis = await startLocalRedis({
      dir: join(folder, 'redis'),
      env: process.env,
      password: randomBytes(24).toString('hex'),
    })
    releaser.add('redis', redis.stop)
    await lock.addChildren([redis.pid])
    const objects = join(folder, 'objects')
    await makeObjectFolder(objects)
    const values = { REMORA_REDIS_URL: redis.url, REMORA_S3_ENDPOINT: pathToFileURL(objects).href }
    const path = join(folder, 'env')
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
    await rm(path, { force: true }) // the mode counts for a new file only
    await writeFile(path, lines.join(''), { mode: 0o600 })
    let isStopping = false
    const close = () => {
      isStopping = true
      return releaser.release()
    }
    exitOnSignal(Promise.resolve({ close }))
    // Who uses it would wait for it for ever.
    void redis.failed.catch(async (error: unknown) => {
      if (isStopping) return
      await releaser.release()
      throw error
    })
    process.stdout.write(`${JSON.stringify({ env: path, pid: process.pid })}\n`)
  } catch (error) {
    await releaser.release()
    throw error
  }
})
