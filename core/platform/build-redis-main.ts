import { z } from 'zod'

// Child process of build-redis.ts: the library prints, waits for locks and starts compilers, and cannot be stopped.
const dir = z.string().parse(process.argv[2])
if (process.send === undefined) throw new Error('build-redis-main.ts is started by build-redis.ts')

try {
  const { RedisBinary } = await import('redis-memory-server')
  const program = await RedisBinary.getPath({ downloadDir: dir, version: 'stable' })
  process.send({ program }, () => process.exit(0))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = `the build failed: ${message.trim().split('\n').at(0)?.slice(0, 300) ?? ''}`
  process.send({ refusal }, () => process.exit(1))
}
