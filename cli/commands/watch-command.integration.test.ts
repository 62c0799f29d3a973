import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { composeRun, playRun, submitRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-watch-'))
})
afterAll(() => rm(dir, { recursive: true }))

const one = { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' } as const] }
const two = { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } }
const Line = z.object({ seq: z.int().optional(), event: z.string().optional(), result: z.looseObject({}).optional() })

/** `remora watch …` against the API; what it has printed so far can be read while it runs. */
function watch(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const printed = { out: '', err: '', code: 0 }
  const stop = new AbortController()
  const ended = served.remoraWith({ printed, env, signal: stop.signal, cwd: dir }, 'watch', ...args)
  return { printed, ended, stop: () => stop.abort(new Error('interrupted')) }
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))

describe('remora watch', () => {
  it('follows a run to its end, every event as a line and the result as the last', async () => {
    const runId = await playRun(served.api, [one])
    const { seq } = await served.api.ledger.getRun(runId)
    const { printed, ended } = watch([runId, '--json', '--events', 'events.jsonl'])
    await until(() => printed.out, { holds: (text) => text.split('\n').length > seq })
    expect(printed.out).not.toContain('run.completed')
    await composeRun(served.api, runId, { files: [] })
    await ended
    const lines = linesOf(printed.out)
    expect(lines.slice(0, -1).map((line) => line.seq)).toEqual(Array.from({ length: seq + 2 }, (_, at) => at + 1))
    expect(lines.at(-1)?.result).toMatchObject({ run_id: runId, status: 'completed', patch: null })
    expect(printed).toMatchObject({ err: '', code: 0 })
    const file = await readFile(join(dir, 'events.jsonl'), 'utf8')
    expect(linesOf(file)).toEqual(lines.slice(0, -1))
  })

  it('tells a person how a run went that has ended, and where its patch is', async () => {
    const runId = await playRun(served.api, [one, two])
    await composeRun(served.api, runId, { files: [] })
    const { printed, ended } = watch([runId])
    await ended
    expect(printed.out).toContain(`run ${runId} completed`)
    expect(printed.out).toContain(`Its patch: remora diff ${runId}`)
    expect(printed.out).toMatch(/AGENT_004 {2}lint/)
    expect(printed.code).toBe(3)
  })

  it('says that the run goes on when it is stopped', async () => {
    const runId = await submitRun(served.api)
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
})
