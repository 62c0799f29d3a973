import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { lastDocument } from '../program.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'
import { useOneProcess } from '../use-services.ts'

const Result = z.object({
  result: z.looseObject({
    status: z.string(),
    error_code: z.string().nullable(),
    failures: z.array(z.looseObject({ error_code: z.string(), count: z.int(), reason: z.string() })),
    patch: z.looseObject({ path: z.string() }).nullable(),
  }),
})

const Runs = z.looseObject({ runs: z.array(z.unknown()) })
const WaitingRun = z.looseObject({ run_id: z.string(), status: z.literal('waiting') })
const Readiness = z.looseObject({ parts: z.looseObject({ models: z.looseObject({ state: z.string() }) }) })

/** The rehearsal model answers no request that shows this function. */
const unlucky = 'def unlucky():\n    # [[rehearsal:fault=503]]\n    return f"never"\n'

describe('a run whose model has trouble', () => {
  // A failing try and another fit into the budget: there are at most 200 ms between them.
  const services = useOneProcess({ workerEnv: { REMORA_MODEL_RETRY_BUDGET_MS: '400' } })
  let folder: SourceFolder
  beforeEach(async () => {
    folder = await sourceFolder({ ...smallSource, 'shop/unlucky.py': unlucky })
  })
  afterEach(() => folder.remove())

  async function run(paths: string) {
    const args = ['run', '.', '--agents', 'docstring', '--paths', paths, '--out', 'x.patch', '--json']
    const { code, out } = await services.remora(folder, args)
    return { code, out, ...Result.parse(lastDocument(out)).result }
  }

  async function readiness(name: string): Promise<object> {
    const answer = await fetch(`${services.named(name).health}/readyz`)
    return { status: answer.status, parts: Readiness.parse(await answer.json()).parts }
  }

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
      const backAgain = await services.takeModelAway()
      const running = run('shop/stock.py')
      const newest = async () => Runs.parse(await (await services.api.ask('/v1/runs?limit=1')).json()).runs[0]
      const waiting = WaitingRun.parse(
        await until(newest, { holds: (one) => WaitingRun.safeParse(one).success, withinMs: 60_000 }),
      )
      const server = { has_answered: true, last_error: expect.stringContaining('ECONNREFUSED') }
      expect(waiting).toMatchObject({ waiting_for: [{ kind: 'models', model: 'default', servers: [server] }] })
      const shown = await services.remora(folder, ['show', waiting.run_id])
      expect(shown.code).toBe(0)
      expect(shown.out).toMatch(/^status +waiting \(waits for the model\)$/m)
      expect(shown.out).toMatch(/^ {2}http:\S+\/v1: no answer: ECONNREFUSED; asked again at /m)
      const states = await Promise.all(['api', 'discovery', 'worker-1'].map(readiness))
      const models = { models: { state: 'away' } }
      expect(states).toMatchObject([
        { status: 200, parts: models },
        { status: 200, parts: models },
        { status: 503, parts: models },
      ])

      await backAgain()
      const { out, ...ended } = await running
      expect(ended).toMatchObject({ code: 0, status: 'completed', failures: [] })
      const events = out.match(/"event":"(?:models|run)\.(?:away|back|waiting)"/g)
      expect(events).toEqual(['"event":"models.away"', '"event":"run.waiting"', '"event":"models.back"'])
      await folder.apply(await folder.read('x.patch'))
    },
  )
})
