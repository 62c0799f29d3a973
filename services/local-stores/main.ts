import '#platform/lean-v8.ts'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { type FolderLock, lockFolder } from '#platform/folder-lock.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { startLocalS3 } from '#platform/local-s3.ts'
import { makeFolder } from '#platform/own-file.ts'
import { redisServer } from '#platform/known-programs.ts'
import { putProgramOnPath } from '#platform/obtain-program.ts'
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
 * A Redis and an S3 server of this machine, to try the services one by one: `node scripts/service.mjs local-stores FOLDER`. Both keep
 * their data in the folder, and listen on 127.0.0.1 only. Their addresses and keys, which are new at each start, are written to
 * FOLDER/env, as the services read them. Not for production: what they keep is on one disk.
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
    const s3 = await startLocalS3({ dir: join(folder, 's3') })
    releaser.add('s3', s3.stop)
    await lock.addChildren([redis.pid, s3.pid])
    const values = {
      REMORA_REDIS_URL: redis.url,
      REMORA_S3_ENDPOINT: s3.endpoint,
      REMORA_S3_BUCKET: s3.bucket,
      REMORA_S3_REGION: s3.region,
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }
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
    // Who uses the one that ended would wait for it for ever.
    void Promise.race([redis.failed, s3.failed]).catch(async (error: unknown) => {
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
