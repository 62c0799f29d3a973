import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openStackLog, type StackLog } from './stack-log.ts'
import { startWorkerPool, type WorkerPool } from './worker-pool.ts'

let dir = ''
let log: StackLog
const reported: string[] = []
const say = (line: string) => void reported.push(line)
beforeEach(async () => {
  reported.length = 0
  dir = await mkdtemp(join(tmpdir(), 'remora-pool-'))
  log = await openStackLog({ append: false, path: join(dir, 'stack.log'), level: 'info' })
})
afterEach(async () => {
  await log.close()
  await rm(dir, { recursive: true, force: true })
})

async function entryOf(source: string): Promise<string> {
  const entry = join(dir, 'worker.mjs')
  await writeFile(entry, source)
  return entry
}

const staysAlive = "process.on('disconnect', () => process.exit(0))\n"
const pidsOf = (pool: WorkerPool) => pool.workers().map(({ pid }) => pid)
const pauses = { firstMs: 20, mostMs: 50, steadyMs: 60_000 }

describe('the worker pool', () => {
  it('starts a worker that was killed again, and none after it was stopped', async () => {
    const pool = startWorkerPool({ count: 2, env: {}, log, say, entry: await entryOf(staysAlive) })
    const [first = 0, second] = pidsOf(pool)
    process.kill(first, 'SIGKILL')
    await until(() => pidsOf(pool), { holds: (pids) => pids.length === 2 && !pids.includes(first) })
    expect(pidsOf(pool)).toContain(second)
    const last = pidsOf(pool)
    await pool.stop()
    expect(pidsOf(pool)).toEqual([])
    for (const pid of last) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('goes on when workers that came up die again and again, with growing pauses that it reports', async () => {
    const entry = await entryOf(
      "process.send({ healthPort: 8423 }, () => { process.stderr.write('out of luck\\n'); process.exit(7) })",
    )
    const pool = startWorkerPool({ count: 1, env: {}, log, say, pauses, entry })
    await until(() => reported, { holds: ({ length }) => length >= 8 })
    expect(reported.slice(0, 4).map((line) => line.replace(/\d+ ended/, 'PID ended'))).toEqual(
      ['0.02', '0.04', '0.05', '0.05'].map(
        (seconds) => `worker process PID ended with exit code 7: out of luck; another starts in ${seconds} s`,
      ),
    )
    await pool.stop()
    const { length } = reported
    expect(pidsOf(pool)).toEqual([])
    expect(await Promise.race([pool.failed.catch(() => 'failed'), Promise.resolve('goes on')])).toBe('goes on')
    expect(reported).toHaveLength(length)
  })

  it('gives up on workers that cannot live, with their last words', async () => {
    const entry = await entryOf("process.stderr.write('no such bucket\\n'); process.exit(3)")
    const pool = startWorkerPool({ count: 1, env: {}, log, say, entry })
    await expect(pool.failed).rejects.toThrow(
      'ended 6 times within a minute, the last with exit code 3: no such bucket',
    )
    await pool.stop()
  })

  it('gives a worker only the environment that it was started with', async () => {
    const report = join(dir, 'env.json')
    const source = `import { writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(report)}, JSON.stringify(process.env)); ${staysAlive}`
    const pool = startWorkerPool({
      count: 1,
      env: { REMORA_REDIS_URL: 'redis://here' },
      log,
      say,
      entry: await entryOf(source),
    })
    const seen = await until(() => readFile(report, 'utf8').catch(() => ''), { holds: (text) => text !== '' })
    await pool.stop()
    expect(JSON.parse(seen)).toEqual({ REMORA_REDIS_URL: 'redis://here' })
  })
})
