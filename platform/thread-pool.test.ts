import { readdir, readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openThreadPool, type PoolOptions, type ThreadPool } from './thread-pool.ts'

const opened: ThreadPool<readonly string[], string>[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.close()))
})

function open(options: Partial<PoolOptions> = {}): ThreadPool<readonly string[], string> {
  const entry = new URL('./echo-thread.fixture.ts', import.meta.url)
  const pool = openThreadPool<readonly string[], string>({
    entry,
    name: 'the echo',
    threads: 1,
    limitMs: 10_000,
    ...options,
  })
  opened.push(pool)
  return pool
}

async function threadNames(): Promise<string[]> {
  const ids = await readdir('/proc/self/task')
  const names = await Promise.all(ids.map((id) => readFile(`/proc/self/task/${id}/comm`, 'utf8').catch(() => '')))
  return names.map((name) => name.trim())
}

const report = (text: string) => ({ kind: 'report', report: text })

describe('openThreadPool', () => {
  it('answers in the order of the requests', async () => {
    const pool = open()
    expect(await Promise.all([pool.ask(['a']), pool.ask(['b', 'c'])])).toMatchObject([report('a'), report('b c')])
  })

  it.each([undefined, 1])(
    'gives a new thread what waited behind a crash, with %s at once',
    async (requestsPerThread) => {
      const pool = open(requestsPerThread === undefined ? {} : { requestsPerThread })
      const answers = await Promise.all([pool.ask(['a']), pool.ask(['b', 'crash', 'c']), pool.ask(['d'])])
      const lost = { kind: 'lost', item: 1, why: 'the echo crashed on it: it broke' }
      expect(answers).toMatchObject([report('a'), lost, report('d')])
    },
  )

  it('ends a thread that takes too long for one item', async () => {
    const pool = open({ limitMs: 200, work: 'echoing' })
    const answers = await Promise.all([pool.ask(['a', 'b', 'hang']), pool.ask(['c'])])
    const why = expect.stringContaining('echoing took longer than')
    expect(answers).toMatchObject([{ kind: 'lost', item: 2, why }, report('c')])
  })

  it('gives a thread that has not had the processor for so long more time', async () => {
    const pool = open({ limitMs: 200 })
    expect(await pool.ask(['sleep'])).toMatchObject(report('sleep'))
  })

  it('replaces a thread that is spent', async () => {
    const pool = open()
    const answers = await Promise.all([pool.ask(['spend']), pool.ask(['a'])])
    expect(answers).toMatchObject([report('spend'), report('a')])
    expect(await pool.ask(['b'])).toMatchObject(report('b'))
  })

  it('ends a thread that is idle, and starts another for the next request', async () => {
    const pool = open({ idleMs: 1 })
    expect(await pool.ask(['a'])).toMatchObject(report('a'))
    await until(async () => !(await threadNames()).includes('the echo'))
    expect(await pool.ask(['b'])).toMatchObject(report('b'))
  })

  it('says that a thread does not start, and tries again with the next request', async () => {
    const pool = open({ entry: new URL('file:///no-such-thread.ts') })
    await expect(pool.ask(['a'])).rejects.toMatchObject({ code: 'TOOL_004' })
    await expect(pool.ask(['a'])).rejects.toMatchObject({ code: 'TOOL_004' })
  })

  it('fails what runs, what waits and what comes later when it is closed', async () => {
    const pool = open({ requestsPerThread: 1 })
    const asked = Promise.allSettled([pool.ask(['hang']), pool.ask(['a'])])
    await Promise.all([pool.close(), pool.close()])
    for (const end of await asked) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'AGENT_010' } })
    await expect(pool.ask(['a'])).rejects.toMatchObject({ code: 'AGENT_010' })
  })
})
