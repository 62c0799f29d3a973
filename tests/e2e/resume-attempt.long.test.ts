import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { lastDocument, openPrograms, type Program, remora } from '../program.ts'
import { manyFunctions, smallSource, sourceFolder, type SourceFolder, undocumented } from '../source-folder.ts'

const programs = openPrograms()
afterEach(() => programs.end())

const Line = z.looseObject({ event: z.string(), operation_id: z.string().optional(), run_id: z.string() })
type Line = z.infer<typeof Line>

/** The events among what `--json` has printed so far; the last line may be incomplete, or be the result. */
function eventsOf(program: Program): Line[] {
  return program
    .out()
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? [])
}

const named = (events: readonly Line[], name: string) =>
  events.flatMap(({ event, operation_id: id }) => (event === name && id !== undefined ? [id] : []))

describe('a run whose whole stack is killed', () => {
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder({ 'prices.py': manyFunctions(120) })
  })
  afterEach(() => folder.remove())

  it.skipIf(lacks('git'))(
    'continues in the next stack to its patch, and what had ended is not done again',
    async () => {
      const quick = { REMORA_LEASE_MS: '3000' }
      const first = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--json'], quick)
      await until(() => named(eventsOf(first), 'operation.ended'), {
        holds: ({ length }) => length >= 20,
        withinMs: 60_000,
      })
      first.kill('SIGKILL')
      await first.exited
      const before = eventsOf(first)
      const runId = before[0]?.run_id ?? ''
      const endedBefore = new Set(named(before, 'operation.ended'))
      expect(endedBefore.size).toBeLessThan(120)

      const args = ['run', '--resume', runId, '--json', '--out', 'whole.patch']
      const second = remora(programs, folder, args, quick)
      expect(await second.exited, second.err()).toBe(0)
      expect(lastDocument(second.out())).toMatchObject({ result: { run_id: runId, status: 'completed' } })
      const all = eventsOf(second)
      expect(all.slice(0, before.length)).toEqual(before)
      const startedLater = named(all.slice(before.length), 'operation.started')
      expect(startedLater.filter((id) => endedBefore.has(id))).toEqual([])
      expect(new Set(named(all, 'operation.ended')).size).toBe(120)

      await folder.apply(await folder.read('whole.patch'))
      expect(await folder.read('prices.py')).not.toMatch(undocumented)
      const verify = remora(programs, folder, ['verify', runId])
      expect(await verify.exited, verify.out()).toBe(0)
    },
  )
})

describe('a run that was begun with a model server', () => {
  let folder: SourceFolder
  /** Lists a model, and never answers a request. */
  let server: Server
  let model = ''
  beforeAll(async () => {
    folder = await sourceFolder(smallSource)
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      if (request.url?.endsWith('/models') === true) response.end(JSON.stringify({ data: [{ id: 'slow' }] }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    model = `http://127.0.0.1:${boundPort(server)}/v1`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await closeServer(server)
    await folder.remove()
  })

  it('is never continued by the rehearsal model: not resumed, not during another run, not by a retry', async () => {
    const begun = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--json', '--model', model])
    await until(() => named(eventsOf(begun), 'operation.started'), {
      holds: ({ length }) => length > 0,
      withinMs: 60_000,
    })
    begun.interrupt()
    expect(await begun.exited).toBe(130)
    const runId = eventsOf(begun)[0]?.run_id ?? ''
    expect(begun.err()).toContain(`To continue it: remora run --resume ${runId} --model ${model}`)

    const resumed = remora(programs, folder, ['run', '--resume', runId])
    expect(await resumed.exited).toBe(1)
    expect(resumed.err()).toMatch(
      /RUN_009 .*begun with model servers, .*rehearsal model \(no LLM\): start them with --model/,
    )
    const other = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--json'])
    expect(await other.exited, other.err()).toBe(0)
    expect(other.err()).toContain(
      `not continued, because begun with model servers: ${runId}; to continue: remora run --resume ${runId}`,
    )
    expect(lastDocument(other.out())).toMatchObject({ result: { status: 'completed', earlier_runs: [] } })
    const shown = remora(programs, folder, ['show', runId])
    await shown.exited
    expect(shown.out()).toMatch(new RegExp(`nothing works on it now, .*--resume ${runId} --model URL`))
    expect(shown.out()).not.toMatch(/succeeded|unchanged|failed/)

    expect(await remora(programs, folder, ['cancel', runId]).exited).toBe(0)
    const retried = remora(programs, folder, ['retry', runId])
    expect(await retried.exited).toBe(1)
    expect(retried.err()).toMatch(/RUN_009/)
  })
})
