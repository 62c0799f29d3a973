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

/** `remora watch …` against the API, in a pipe unless it has `columns`; what it has printed so far can be read while it runs. */
function watch(args: readonly string[], columns?: number) {
  const printed = { out: '', err: '', code: 0 }
  const stop = new AbortController()
  const ended = served.remoraWith({ printed, columns, signal: stop.signal, cwd: dir }, 'watch', ...args)
  return { printed, ended, stop: () => stop.abort(new Error('interrupted')) }
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))

describe('remora watch', () => {
  it('follows a run to its end in a pipe, every event as a line and the result as the last', async () => {
    const runId = await playRun(served.api, [one])
    const { seq } = await served.api.ledger.getRun(runId)
    const { printed, ended } = watch([runId, '--events-to', 'events.jsonl'])
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
    const { printed, ended } = watch([runId], 100)
    await ended
    expect(printed.out).toContain(`run ${runId} completed`)
    expect(printed.out).toContain(`Its patch: remora diff ${runId}`)
    expect(printed.out).toMatch(/AGENT_004 {2}lint/)
    expect(printed.code).toBe(3)
  })

  it('prints only the events of the categories that are asked for, and the result', async () => {
    const runId = await playRun(served.api, [one, two])
    await composeRun(served.api, runId, { files: [] })
    const args = [runId, '--events', 'worker_output,failed', '--events-to', 'all.jsonl']
    const [piped, shown] = [watch(args), watch(args, 100)]
    await Promise.all([piped.ended, shown.ended])
    const lines = linesOf(piped.printed.out)
    const names = ['operation.ended', 'operation.failed', 'operation.ended']
    expect(lines.slice(0, -1).map(({ event }) => event)).toEqual(names)
    expect(lines.at(-1)?.result).toMatchObject({ status: 'completed' })
    const [first = '', ...rest] = shown.printed.out.split('\n')
    expect(first).toMatch(/^\d\d:\d\d:\d\d {2}operation\.ended +lint a\.py one succeeded: /)
    expect(rest.slice(0, 2).join('\n')).toMatch(/AGENT_004 turn limit of 12/)
    expect(shown.printed.err).toBe('')
    expect(linesOf(await readFile(join(dir, 'all.jsonl'), 'utf8')).length).toBeGreaterThan(names.length)
  })

  it('knows no category that there is not, and names those that there are', async () => {
    const { ended } = watch(['r0000000000000', '--events', 'findings'])
    await expect(ended).rejects.toThrow(/categories of events.*: run_lifecycle, .*finding/)
  })

  it('says that the run goes on when it is stopped', async () => {
    const runId = await submitRun(served.api)
    const { printed, ended, stop } = watch([runId])
    await until(() => printed.out, { holds: (text) => text !== '' })
    stop()
    await expect(ended).rejects.toThrow('interrupted')
    expect(printed.err).toContain(`Run ${runId} continues`)
  })

  it.for(['r0000000000000', 'nonsense'])('knows no run %s, and writes nothing for it', async (runId) => {
    await writeFile(join(dir, 'kept.jsonl'), 'kept')
    const { ended } = watch([runId, '--events-to', 'kept.jsonl'])
    await expect(ended).rejects.toMatchObject({ code: 'RUN_001' })
    expect(await readFile(join(dir, 'kept.jsonl'), 'utf8')).toBe('kept')
  })
})
