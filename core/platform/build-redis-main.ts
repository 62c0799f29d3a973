import { createHash } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { z } from 'zod'

// Child process of build-redis.ts, and leader of its group: the library prints, waits for locks and starts compilers,
// and cannot be stopped.
const dir = z.string().parse(process.argv[2])
if (process.send === undefined) throw new Error('build-redis-main.ts is started by build-redis.ts')
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))

/** As the list of digests that the Redis project keeps says (redis-hashes). */
const release = { version: '7.2.11', sha256: '2f9886eca68d30114ad6a01da65631f8007d802fd3e6c9fac711251e6390323d' }

try {
  const { default: library } = await import('redis-memory-server/lib/util/RedisBinaryDownload.js')
  const download = new library.default({ downloadDir: dir, version: release.version })
  await mkdir(dir, { recursive: true })
  // The library takes an archive that is there as it is: it is looked at between the download and the build.
  const archive = await download.startDownload()
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  if (sha256 !== release.sha256) {
    await rm(archive, { force: true })
    throw new Error(`what was downloaded is not Redis ${release.version}: its SHA-256 is ${sha256}`)
  }
  const program = await download.getRedisServerPath()
  process.send({ program }, () => process.exit(0))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = `the build failed: ${message.trim().split('\n').at(0)?.slice(0, 300) ?? ''}`
  process.send({ refusal }, () => process.exit(1))
}
