import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { remoraHere } from '../remora-here.ts'
import { lastDocument, openPrograms, remora } from './program.ts'
import { startServices, startStores, type Services, type Stores } from './services.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

const Result = z.object({
  result: z.looseObject({
    status: z.string(),
    error_code: z.string().nullable(),
    failures: z.array(z.looseObject({ error_code: z.string(), count: z.int(), reason: z.string() })),
    patch: z.looseObject({ path: z.string() }).nullable(),
  }),
})

const Runs = z.looseObject({ runs: z.array(z.looseObject({ run_id: z.string(), status: z.string() })) })
const Readiness = z.looseObject({ parts: z.looseObject({ models: z.looseObject({ state: z.string() }) }) })

/** The rehearsal model answers no request that shows this function. */
const unlucky = 'def unlucky():\n    # [[rehearsal:fault=503]]\n    return f"never"\n'

describe('a run whose model has trouble', () => {
  const programs = openPrograms()
  const open: { stores?: Stores } = {}
  let services: Services
  let folder: SourceFolder

  beforeAll(async () => {
    open.stores = await startStores()
    // Three failing tries and a fourth fit into the budget: there are at most 200, 400 and 800 ms between them.
    services = await startServices(programs, open.stores, { workerEnv: { REMORA_MODEL_RETRY_BUDGET_MS: '1500' } })
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
  })
  beforeEach(async () => {
    folder = await sourceFolder({ ...smallSource, 'shop/unlucky.py': unlucky })
  })
  afterEach(() => folder.remove())

  const clientEnv = () => ({ REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token })
  function start(paths: string) {
    const args = ['run', '.', '--agents', 'docstring', '--paths', paths, '--out', 'x.patch', '--json']
    return remora(programs, folder, args, clientEnv())
  }
  async function run(paths: string) {
    const program = start(paths)
    const code = await program.exited
    return { code, ...Result.parse(lastDocument(program.out())).result }
  }

  async function readiness(name: string): Promise<object> {
    const answer = await fetch(`${services.named(name).origin}/readyz`)
    return { status: answer.status, parts: Readiness.parse(await answer.json()).parts }
  }

  it('loses nothing when some requests fail and are tried again', async () => {
    const faults = JSON.stringify({ shares: { '503': 1 }, times: 3 })
    const set = await fetch(`${services.named('rehearsal').origin}/faults`, { method: 'POST', body: faults })
    expect(set.status).toBe(200)
    expect(await run('shop/stock.py')).toMatchObject({ code: 0, status: 'completed', failures: [] })
  })

  it.skipIf(lacks('git'))('continues with the other operations when some never get an answer', async () => {
    const { code, status, failures, patch } = await run('shop/*.py')
    expect({ code, status }).toEqual({ code: 3, status: 'completed' })
    expect(failures.map(({ error_code: reason }) => reason)).toEqual(['AGENT_002'])
    expect(failures[0]?.reason).toMatch(/503.*\d (?:try|tries)/)
    expect(patch).not.toBeNull()
    await folder.apply(await folder.read('x.patch'))
    expect(await folder.read('shop/stock.py')).toMatch(/def shelf_label\(shelf, row\):\n {4}"""/)
    expect(await folder.read('shop/unlucky.py')).toBe(unlucky)
  })

  it.skipIf(lacks('git'))(
    'waits while the model is away, says so everywhere, and goes on when it is back',
    async () => {
      const rehearsal = services.named('rehearsal')
      rehearsal.kill('SIGTERM')
      expect(await rehearsal.exited).toBe(0)
      const program = start('shop/stock.py')
      const runs = async () => Runs.parse(await (await services.api.ask('/v1/runs?limit=1')).json()).runs
      const [waiting] = await until(runs, { holds: ([newest]) => newest?.status === 'waiting', withinMs: 60_000 })
      const server = { has_answered: true, last_error: expect.stringContaining('ECONNREFUSED') }
      expect(waiting).toMatchObject({ waiting_for: [{ kind: 'models', model: 'default', servers: [server] }] })
      const shown = await remoraHere(folder, ['show', waiting?.run_id ?? ''], clientEnv())
      expect(shown.code).toBe(0)
      expect(shown.out).toMatch(/^status +waiting \(execution; waits for the model\)$/m)
      expect(shown.out).toMatch(/^ {2}http:\S+\/v1: no answer: ECONNREFUSED; asked again at /m)
      const states = await Promise.all(['api', 'discovery', 'worker-1'].map(readiness))
      const models = { models: { state: 'away' } }
      expect(states).toMatchObject([
        { status: 200, parts: models },
        { status: 200, parts: models },
        { status: 503, parts: models },
      ])

      const again = programs.start(['scripts/service.mjs', 'rehearsal'], {
        env: { REMORA_REHEARSAL_PORT: new URL(rehearsal.origin).port },
      })
      expect(await program.exited, again.err()).toBe(0)
      expect(Result.parse(lastDocument(program.out())).result).toMatchObject({ status: 'completed', failures: [] })
      const events = program.out().match(/"event":"(?:models|run)\.(?:away|back|waiting)"/g)
      expect(events).toEqual(['"event":"models.away"', '"event":"run.waiting"', '"event":"models.back"'])
      await folder.apply(await folder.read('x.patch'))
    },
  )
})
