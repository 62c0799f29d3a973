import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { composeRun, playRun, submitRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'

let api: TestApi
let served: ServedApp
let dir = ''
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  dir = await mkdtemp(join(tmpdir(), 'remora-watch-'))
})
afterAll(async () => {
  await served.close()
  await api.close()
  await rm(dir, { recursive: true })
})

const one = { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' } as const] }
const two = { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } }
const Line = z.object({ seq: z.int().optional(), event: z.string().optional(), result: z.looseObject({}).optional() })

/** `remora watch …` against the API; what it has printed so far can be read while it runs. */
function watch(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const printed = { out: '', err: '', code: 0 }
  const stop = new AbortController()
  const io = {
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    exit: (code: number) => void (printed.code = code),
  }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: api.token, ...env })
  const context = { io, config, signal: stop.signal, terminal: undefined, colored: false, cwd: dir }
  const ended = buildProgram(context).parseAsync(['watch', ...args], { from: 'user' })
  return { printed, ended, stop: () => stop.abort(new Error('interrupted')) }
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))

describe('remora watch', () => {
  it('follows a run to its end, every event as a line and the result as the last', async () => {
    const runId = await playRun(api, [one])
    const { seq } = await api.ledger.getRun(runId)
    const { printed, ended } = watch([runId, '--json', '--events', 'events.jsonl'])
    await until(() => printed.out, { holds: (text) => text.split('\n').length > seq })
    expect(printed.out).not.toContain('run.completed')
    await composeRun(api, runId, { files: [] })
    await ended
    const lines = linesOf(printed.out)
    expect(lines.slice(0, -1).map((line) => line.seq)).toEqual(Array.from({ length: seq + 2 }, (_, at) => at + 1))
    expect(lines.at(-1)?.result).toMatchObject({ run_id: runId, status: 'completed', patch: null })
    expect(printed).toMatchObject({ err: '', code: 0 })
    const file = await readFile(join(dir, 'events.jsonl'), 'utf8')
    expect(linesOf(file)).toEqual(lines.slice(0, -1))
  })

  it('tells a person how a run went that has ended, and where its patch is', async () => {
    const runId = await playRun(api, [one, two])
    await composeRun(api, runId, { files: [] })
    const { printed, ended } = watch([runId])
    await ended
    expect(printed.out).toContain(`run ${runId} completed`)
    expect(printed.out).toContain(`Its patch: remora diff ${runId}`)
    expect(printed.out).toMatch(/AGENT_004 {2}lint/)
    expect(printed.code).toBe(3)
  })

  it('ends with 1 when the run failed', async () => {
    const runId = await submitRun(api)
    await api.ledger.move(runId, {
      from: [{ status: 'queued' }],
      to: { status: 'failed' },
      command: 'fail',
      set: { errorCode: 'INTAKE_001', reason: 'the archive is cut off' },
      events: [],
    })
    const { printed, ended } = watch([runId])
    await ended
    expect(printed).toMatchObject({ code: 1, out: expect.stringContaining('INTAKE_001 the archive is cut off') })
  })

  it('says that the run goes on when it is stopped', async () => {
    const runId = await submitRun(api)
    const { printed, ended, stop } = watch([runId])
    await until(() => printed.err, { holds: (text) => text !== '' })
    stop()
    await expect(ended).rejects.toThrow('interrupted')
    expect(printed.err).toContain(`Run ${runId} continues`)
  })

  it.for(['r0000000000000', 'nonsense'])('knows no run %s, and writes nothing for it', async (runId) => {
    await writeFile(join(dir, 'kept.jsonl'), 'kept')
    const { ended } = watch([runId, '--events', 'kept.jsonl'])
    await expect(ended).rejects.toMatchObject({ code: 'RUN_001' })
    expect(await readFile(join(dir, 'kept.jsonl'), 'utf8')).toBe('kept')
  })

  it('does not start a stack to watch one', async () => {
    const { ended } = watch(['r0000000000000'], { REMORA_API_URL: '', REMORA_DATA_DIR: dir })
    const error: unknown = await ended.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'CONFIG_001' })
  })
})
