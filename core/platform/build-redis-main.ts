import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseJson } from '#domain/json.ts'
import { RedisRelease } from './build-redis.ts'

// Child process of build-redis.ts, and leader of its group: the library prints, waits for locks and starts compilers,
// and cannot be stopped. It works in the working folder, which is empty and its own: the library reads settings and even
// programs from where it is started.
if (process.send === undefined) throw new Error('build-redis-main.ts is started by build-redis.ts')
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))

try {
  const { version, sha256 } = RedisRelease.parse(parseJson(process.argv[2] ?? ''))
  const { default: library } = await import('redis-memory-server/lib/util/RedisBinaryDownload.js')
  const download = new library.default({ downloadDir: process.cwd(), version })
  // The library takes an archive that is there as it is: it is looked at between the download and the build.
  const archive = await download.startDownload()
  const found = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  if (found !== sha256) throw new Error(`what was downloaded is not Redis ${version}: its SHA-256 is ${found}`)
  const program = await download.getRedisServerPath()
  process.send({ program }, () => process.exit(0))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = `the build failed: ${message.trim().split('\n').at(0)?.slice(0, 300) ?? ''}`
  process.send({ refusal }, () => process.exit(1))
}
