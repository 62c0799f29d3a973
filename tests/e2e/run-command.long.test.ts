import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { processesNaming, stillRunning } from '../living-processes.ts'
import { lastDocument, openPrograms, remora } from '../program.ts'
import { inMidRun, wayOn, written } from './stopped-run.ts'
import { exampleCopy, manyFunctions, sourceFolder, type SourceFolder } from '../source-folder.ts'

const programs = openPrograms()
afterEach(() => programs.end())

const Result = z.object({
  result: z.looseObject({
    run_id: z.string(),
    status: z.string(),
    rehearsal: z.boolean(),
    models: z.array(z.string()),
    earlier_runs: z.array(z.string()),
  }),
})
const Runs = z.object({ runs: z.array(z.looseObject({ run_id: z.string(), status: z.string() })) })

it('remora run works a second time in the same folder, prints JSON to its last line, and remembers both runs', async () => {
  const folder = await exampleCopy()
  const first = remora(programs, folder, ['run', '.', '--agents', 'lint', '--paths', 'src/inventory/units.py'])
  expect(await first.exited, first.err()).toBe(0)
  const args = ['run', '.', '--agents', 'docstring', '--paths', 'src/inventory/stock.py', '--limit', '3', '--json']
  const run = remora(programs, folder, args)
  expect(await run.exited, run.err()).toBe(0)
  const { result } = Result.parse(lastDocument(run.out()))
  expect(result).toMatchObject({ status: 'completed', rehearsal: true, models: ['rehearsal model (no LLM)'] })

  const runs = remora(programs, folder, ['runs', '--json'])
  expect(await runs.exited, runs.err()).toBe(0)
  const { runs: listed } = Runs.parse(lastDocument(runs.out()))
  expect(listed.map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect(listed[0]?.run_id).toBe(result.run_id)
  for (const unread of ['checks', 'failures', 'left_out']) expect(listed[0]).not.toHaveProperty(unread)
  expect(await processesNaming(folder.path)).toEqual([])
  await folder.remove()
})

it('remora run --model works without the servers of settings that are there, to which no key is sent', async () => {
  const settings = 'model: { pool: [{ url: "http://127.0.0.1:1/v1" }] }\n'
  const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': manyFunctions(1) })
  const env = { REMORA_MODEL_API_KEY: 'key-of-mine' }
  const run = remora(programs, folder, ['run', '--agents', 'docstring', '--model', 'rehearsal'], env)
  expect(await run.exited, run.err()).toBe(0)
  const listed = remora(programs, folder, ['runs'], env)
  expect([await listed.exited, listed.out()]).toEqual([0, expect.stringContaining('completed')])
  await folder.remove()
})

describe('remora run that is stopped on the way', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder({ 'prices.py': manyFunctions(120) })
  })
  afterEach(() => folder.remove())

  it('continues with the next one after Ctrl-C', async () => {
    const { run } = await inMidRun(programs, folder)
    run.interrupt()
    expect(await run.exited).toBe(130)
    const [, runId = ''] = /Run (\S+) is kept in \.remora\. To continue it: /.exec(run.err()) ?? []
    const next = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--limit', '1', '--json'])
    expect(await next.exited, next.err()).toBe(0)
    expect(next.err()).toContain(`also continuing 1 earlier run: ${runId}\n`)
    expect(Result.parse(lastDocument(next.out())).result.earlier_runs).toEqual([runId])
  })

  it('ends at once, saying why, when its Redis dies', async () => {
    const { run, started } = await inMidRun(programs, folder)
    const redis = started.find(({ name }) => /^(?:redis|valkey)-server$/.test(name))
    expect(redis).toBeDefined()
    if (redis !== undefined) process.kill(redis.pid, 'SIGKILL')
    expect(await run.exited).toBe(1)
    expect(lastDocument(run.out())).toMatchObject({ error: { error_code: 'STORE_001' } })
    expect(run.err()).toContain(wayOn(run.err()))
    expect(await stillRunning(started)).toEqual([])
    expect(await written(folder)).toEqual([])
  })

  it('leaves data that can be read when it is killed with SIGKILL', async () => {
    const { run, started } = await inMidRun(programs, folder)
    run.kill('SIGKILL')
    expect(await run.exited).toBe('SIGKILL')
    await until(() => stillRunning(started), { holds: ({ length }) => length === 0 })
    const runs = remora(programs, folder, ['runs', '--json'])
    expect(await runs.exited, runs.err()).toBe(0)
    const [kept] = Runs.parse(lastDocument(runs.out())).runs
    expect(kept).toMatchObject({ status: 'running' })
    const listed = remora(programs, folder, ['runs'])
    expect(await listed.exited, listed.err()).toBe(0)
    expect(listed.out()).toMatch(new RegExp(`^${kept?.run_id} .*  running  `))
    expect(listed.out()).toContain('\nNothing works now on the runs that have not ended: "remora run')
  })
})
