import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { descendantsOf, processesNaming, stillRunning, type LivingProcess } from './living-processes.ts'
import { lastDocument, openPrograms, type Program, remora } from './program.ts'
import { exampleCopy, manyFunctions, sourceFolder, type SourceFolder } from './source-folder.ts'

const untestable = lacks('git', 'python3')

const programs = openPrograms()
afterEach(() => programs.end())

const threeModules = 'src/inventory/{__init__,cli,units}.py'
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

/** Everything a run starts, once it works: Redis and its guard, S3, a worker and its script processes. */
async function atWork(program: Program): Promise<LivingProcess[]> {
  return until(
    () => {
      if (!program.running()) throw new Error(`it has ended: ${program.err()}`)
      return descendantsOf(program.pid)
    },
    { holds: ({ length }) => length >= 5, withinMs: 60_000 },
  )
}

/** What a run may leave in the folder besides its data: nothing but what was asked for. */
async function written(folder: SourceFolder): Promise<string[]> {
  return (await readdir(folder.path)).filter((name) => name.includes('.patch') || name.includes('.part'))
}

describe('remora run on a folder', () => {
  let folder: SourceFolder
  beforeAll(async () => {
    folder = await exampleCopy()
  })
  afterAll(() => folder.remove())

  it('completes, prints that no model was asked, and leaves no process', async () => {
    const args = ['run', '.', '--agents', 'lint,docstring', '--paths', threeModules, '--out', 'proposed.patch']
    const run = remora(programs, folder, args)
    const started = await atWork(run)
    expect(await run.exited, run.err()).toBe(0)
    expect(run.out()).toContain('completed')
    expect(run.out()).toContain('rehearsal model (no LLM)')
    expect(await stillRunning(started)).toEqual([])
    expect(await processesNaming(folder.path)).toEqual([])
  })

  it.skipIf(untestable)('has written a patch that applies, after which the project passes its own tests', async () => {
    const git = (...rest: string[]) =>
      promisify(execFile)('git', ['apply', ...rest, 'proposed.patch'], { cwd: folder.path })
    await git('--check')
    await git()
    const both = /def add_item\([^)]+\) -> int:\n {8}"""[^"]+"""\n(?: {8}.+\n)+ {8}self\.say\("added", item\.sku\)\n/
    expect(await folder.read('src/inventory/cli.py')).toMatch(both)
    expect(await folder.read('src/inventory/units.py')).toContain('_TABLE: Dict[Unit, ') // `dict[…]` needs Python 3.9
    const tests = await promisify(execFile)('python3', ['-m', 'unittest'], { cwd: folder.path })
    expect(tests.stderr).toMatch(/\nOK\s*$/)
  })

  it('works a second time in the same folder, prints JSON to its last line, and remembers both runs', async () => {
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
  })
})

describe('remora run that is stopped on the way', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder({ 'prices.py': manyFunctions(120) })
  })
  afterEach(() => folder.remove())

  const wayOn = (runId: string) =>
    `To continue it: remora run --resume ${runId}   To stop it for good: remora cancel ${runId}\n`

  async function inMidRun() {
    const run = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--out', 'half.patch', '--json'])
    const started = await atWork(run)
    await until(() => run.out(), { holds: (text) => text.includes('"operation.ended"'), withinMs: 30_000 })
    return { run, started }
  }

  it('leaves no process and no patch behind after Ctrl-C, and prints that the run can be resumed', async () => {
    const { run, started } = await inMidRun()
    run.interrupt()
    expect(await run.exited).toBe(130)
    expect(await stillRunning(started)).toEqual([])
    expect(await processesNaming(folder.path)).toEqual([])
    expect(await written(folder)).toEqual([])
    expect(existsSync(join(folder.path, '.remora', 'stack.lock'))).toBe(false)

    const [, runId = ''] = /Run (\S+) is kept in \.remora\. To continue it: /.exec(run.err()) ?? []
    expect(run.err()).toContain(wayOn(runId))
    const next = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--limit', '1', '--json'])
    expect(await next.exited, next.err()).toBe(0)
    expect(next.err()).toContain(`also continuing 1 earlier run: ${runId}\n`)
    expect(Result.parse(lastDocument(next.out())).result.earlier_runs).toEqual([runId])
  })

  it('ends at once, saying why, when its Redis dies', async () => {
    const { run, started } = await inMidRun()
    const redis = started.find(({ name }) => /^(?:redis|valkey)-server$/.test(name))
    expect(redis).toBeDefined()
    if (redis !== undefined) process.kill(redis.pid, 'SIGKILL')
    expect(await run.exited).toBe(1)
    expect(lastDocument(run.out())).toMatchObject({ error: { error_code: 'STORE_001' } })
    const [, runId = ''] = /Run (\S+) is kept in/.exec(run.err()) ?? []
    expect(run.err()).toContain(wayOn(runId))
    expect(await stillRunning(started)).toEqual([])
    expect(await written(folder)).toEqual([])
  })

  it('ends the processes it started when it is killed with SIGKILL, and its data stays readable', async () => {
    const { run, started } = await inMidRun()
    run.kill('SIGKILL')
    expect(await run.exited).toBe('SIGKILL')
    await until(() => stillRunning(started), { holds: ({ length }) => length === 0 })
    expect(await processesNaming(folder.path)).toEqual([])
    expect(await written(folder)).toEqual([])

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

describe('remora in a pipe', () => {
  it('prints documents of more than a pipe takes at once to their end', async () => {
    const folder = await exampleCopy()
    const discover = remora(programs, folder, ['discover', '.', '--json'])
    expect(await discover.exited, discover.err()).toBe(0)
    expect(discover.out().length).toBeGreaterThan(3 * 65_536)
    expect(lastDocument(discover.out())).toMatchObject({ nodes: expect.any(Array) })
    await folder.remove()
  })
})
