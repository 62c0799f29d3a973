import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { z } from 'zod'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { lastDocument, openPrograms, type Program, remora } from '../program.ts'
import { isReady } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

const Failure = z.object({ error: z.object({ error_code: z.string(), message: z.string() }) })
const Runs = z.object({ runs: z.array(z.looseObject({ run_id: z.string(), status: z.string() })) })
const nobody = 'http://127.0.0.1:1/v1'
const ofOneFile = ['--agents', 'docstring', '--paths', 'shop/stock.py']

// Each waits for long and does little: all of them wait at once.
describe.concurrent('remora run with a model server that it cannot use', () => {
  const programs = openPrograms()
  let rehearsalUrl = ''
  beforeAll(async () => {
    const [port] = await freePorts(1)
    const rehearsal = programs.start(['scripts/service.mjs', 'rehearsal'], {
      env: { REMORA_REHEARSAL_PORT: String(port) },
    })
    const origin = `http://127.0.0.1:${port}`
    await isReady({ ...rehearsal, name: 'rehearsal', origin })
    rehearsalUrl = `${origin}/v1`
  })
  afterAll(() => programs.end())

  async function openFolder({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<SourceFolder> {
    const folder = await sourceFolder(smallSource)
    onTestFinished(folder.remove)
    return folder
  }
  const run = (folder: SourceFolder, ...args: string[]) => remora(programs, folder, ['run', '.', ...ofOneFile, ...args])
  async function theRun(folder: SourceFolder): Promise<z.infer<typeof Runs>['runs'][number] | undefined> {
    const listed = remora(programs, folder, ['runs', '--json'])
    expect(await listed.exited, listed.err()).toBe(0)
    return Runs.parse(lastDocument(listed.out())).runs[0]
  }
  const errorOf = (program: Program) => Failure.parse(lastDocument(program.out())).error

  it('ends with what to check when none has ever answered, and leaves no run behind', async (test) => {
    const folder = await openFolder(test)
    const program = run(folder, '--model', nobody, '--json')
    expect(await program.exited).toBe(1)
    expect(errorOf(program)).toMatchObject({ error_code: 'CONFIG_005' })
    expect(errorOf(program).message).toMatch(
      /127\.0\.0\.1:1\/v1 has never answered \(.*ECONNREFUSED.*\).*check the URL in --model: it usually ends with \/v1/,
    )
    expect(await theRun(folder)).toMatchObject({ status: 'cancelled' })
  })

  it('tells one story to a person: it checks the server, then what to check', async (test) => {
    const folder = await openFolder(test)
    const program = run(folder, '--model', nobody)
    expect(await program.exited).toBe(1)
    expect(program.err()).toContain(`checks the model server at ${nobody}: it has not answered yet\n`)
    expect(program.err()).toContain('checks the servers of the model: none has answered yet\n')
    expect(program.err()).toMatch(/\nremora: CONFIG_005 no model server can be used: .* check the URL in --model/)
    expect(program.err()).not.toMatch(/waits for|goes on by itself|\d cancelled/)
  })

  it.skipIf(lacks('git'))('keeps a run that is resumed with it, so that the right one continues it', async (test) => {
    const folder = await openFolder(test)
    const first = run(folder, '--model', nobody)
    // Long before it could find out by itself that the server does not answer, and cancel the run.
    await until(() => first.err(), { holds: (text) => text.includes('discovery: '), withinMs: 60_000 })
    first.kill('SIGTERM')
    await first.exited
    const { run_id: runId = '' } = (await theRun(folder)) ?? {}

    const second = remora(programs, folder, ['run', '--resume', runId, '--model', nobody])
    expect(await second.exited).toBe(1)
    expect(second.err()).toContain(`To continue it: remora run --resume ${runId} --model URL`)
    expect(second.err()).toContain('remora: CONFIG_005 no model server can be used')

    const third = remora(programs, folder, ['run', '--resume', runId, '--model', rehearsalUrl, '--out', 'x.patch'])
    expect(await third.exited, third.err()).toBe(0)
    await folder.apply(await folder.read('x.patch'))
  })

  it('warns of it when there is a good one, which does the work', async (test) => {
    const folder = await openFolder(test)
    const program = run(folder, '--model', `${nobody},${rehearsalUrl}`)
    expect(await program.exited, program.err()).toBe(0)
    expect(program.err()).toContain(`CONFIG_005 no model server answers at ${nobody}: others do its work`)
  })
})
