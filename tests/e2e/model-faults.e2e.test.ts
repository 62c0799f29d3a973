import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
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

  async function run(paths: string) {
    const args = ['run', '.', '--agents', 'docstring', '--paths', paths, '--out', 'x.patch', '--json']
    const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token }
    const program = remora(programs, folder, args, env)
    const code = await program.exited
    return { code, ...Result.parse(lastDocument(program)).result }
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
    expect(failures[0]?.reason).toMatch(/503.*\d tries/)
    expect(patch).not.toBeNull()
    await folder.apply(await folder.read('x.patch'))
    expect(await folder.read('shop/stock.py')).toMatch(/def shelf_label\(shelf, row\):\n {4}"""/)
    expect(await folder.read('shop/unlucky.py')).toBe(unlucky)
  })

  it('fails without a patch when the model is unreachable, so that every operation fails', async () => {
    const rehearsal = services.named('rehearsal')
    rehearsal.kill('SIGTERM')
    expect(await rehearsal.exited).toBe(0)
    const { code, status, error_code: error, failures, patch } = await run('shop/stock.py')
    expect({ code, status, error, patch }).toEqual({ code: 1, status: 'failed', error: 'AGENT_002', patch: null })
    expect(failures).toMatchObject([{ error_code: 'AGENT_002', count: 2 }])
    expect(failures[0]?.reason).toMatch(/\(\d (?:try|tries) in \d+ ms\)/)
    expect(existsSync(join(folder.path, 'x.patch'))).toBe(false)
  })
})
