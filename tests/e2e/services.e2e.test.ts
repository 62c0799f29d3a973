import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { changeChecks } from '#domain/checks.ts'
import { metricCatalogue } from '#platform/metrics/metric-catalogue.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { RunId } from '#domain/ids.ts'
import { metricValue } from '#testing/metric-value.ts'
import { openPrograms } from '../program.ts'
import type { RunEvent } from '../run-api.ts'
import { type Services, startServices, startStores, storeEnv, type Stores } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

const LogLine = z.looseObject({
  service: z.string(),
  instance: z.string(),
  trace_id: z.string().optional(),
  agent: z.string().optional(),
  operation_id: z.string().optional(),
  status: z.string().optional(),
  prompt_tokens: z.number().optional(),
})

describe('the services as processes of their own', () => {
  const programs = openPrograms()
  const open: { stores?: Stores; folder?: SourceFolder } = {}
  const run: { id: string; events: RunEvent[]; status: string } = { id: '', events: [], status: '' }
  let services: Services
  let stores: Stores
  let folder: SourceFolder

  beforeAll(async () => {
    stores = open.stores = await startStores()
    folder = open.folder = await sourceFolder(smallSource)
    services = await startServices(programs, stores)
    run.id = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    Object.assign(run, await services.api.follow(run.id))
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
    await open.folder?.remove()
  })

  it('say that they live and are ready', async () => {
    for (const { origin, name } of services.all) {
      for (const path of ['/healthz', '/readyz']) {
        const answer = await fetch(`${origin}${path}`)
        expect(await answer.json(), `${name}${path}`).toBeTypeOf('object')
        expect(answer.status, `${name}${path}`).toBe(200)
      }
    }
  })

  it('show the metrics of the catalogue, each that of its own, with what the run did', async () => {
    const texts = new Map<string, string>()
    for (const name of ['api', 'discovery', 'worker']) {
      const { health } = services.named(name === 'worker' ? 'worker-1' : name)
      expect((await fetch(`${health}/readyz`)).status).toBe(200)
      texts.set(name, await (await fetch(`${health}/metrics`)).text())
    }
    for (const [name, { of }] of Object.entries(metricCatalogue)) {
      const shown = [...texts].filter(([, text]) => text.includes(`\n# HELP ${name} `)).map(([service]) => service)
      const meant = [...texts.keys()].filter((service) => of.some((one) => one === service))
      expect(shown, name).toEqual(meant)
    }
    const value = (service: string, series: string) => metricValue(texts.get(service) ?? '', series)
    const ended = (agent: string) =>
      value('worker', `remora_operations_total{agent="${agent}",status="succeeded",error_code=""}`)
    expect([ended('docstring'), ended('lint')]).toEqual([2, 1])
    const answers = run.events.filter(({ event }) => event === 'model.responded').length
    const server = `${services.named('rehearsal').origin}/v1`
    expect(texts.get('worker')).toContain(server)
    expect(value('worker', `remora_model_request_seconds_count{server="${server}"}`)).toBe(answers)
    expect(value('discovery', 'remora_demand')).toBe(0)
    expect(value('discovery', 'remora_workers')).toBe(1)
    expect(value('worker', 'remora_worker_slots')).toBe(16)
    const states = ['ready', 'dispatched', 'running'].map((state) => `remora_operations{state="${state}"}`)
    const reasons = ['operations', 'people', 'models'].map((reason) => `remora_waiting{reason="${reason}"}`)
    expect([...states, ...reasons].map((series) => value('discovery', series))).toEqual([0, 0, 0, 0, 0, 0])
    const stages = ['snapshots', 'discoveries'].map(
      (stage) => `remora_stage_seconds_count{stage="${stage}",result="ok"}`,
    )
    expect(stages.map((series) => value('discovery', series))).toEqual([1, 1])
    expect(value('discovery', 'remora_recovered_operations_total{how="swept"}')).toBe(0)
    expect(value('api', 'remora_http_request_seconds_count{method="POST",route="/v1/runs",status="202"}')).toBe(1)
    // Ids and paths would be series without end.
    const ours = [...texts.values()]
      .join('\n')
      .split('\n')
      .filter((line) => line.startsWith('remora_'))
    expect(
      ours.filter((line) => line.includes(run.id) || line.includes('stock') || /"[on][0-9a-f]{16}"/.test(line)),
    ).toEqual([])
  })

  it('take an archive of the system tar to a completed run, every event in order', () => {
    expect(run.status).toBe('completed')
    expect(run.events.map(({ seq }) => seq)).toEqual(run.events.map((_event, at) => at + 1))
    const milestones = ['run.accepted', 'run.started', 'snapshot.stored', 'nodes.discovered', 'run.planned']
    const reported = run.events.map(({ event }) => event)
    expect(reported.filter((event) => milestones.includes(event))).toEqual(milestones)
    expect(reported.at(-1)).toBe('run.completed')
    expect(reported.filter((event) => event === 'operation.started')).toHaveLength(3)
    expect(reported.filter((event) => event === 'operation.ended')).toHaveLength(3)
    expect(reported.filter((event) => event === 'model.responded')).toHaveLength(
      reported.filter((event) => event === 'model.requested').length,
    )
  })

  it('log that the run is accepted, starts and ends, and each attempt with what it cost', async () => {
    const logged = (name: string, message: string) => {
      const lines = services.named(name).err().trimEnd().split('\n')
      return lines.filter((line) => line.includes(`"${message}"`)).map((line) => LogLine.parse(JSON.parse(line)))
    }
    const milestones = [
      ...logged('api', 'run accepted'),
      ...logged('discovery', 'run started'),
      ...logged('worker-1', 'run ended'),
    ]
    expect(milestones).toMatchObject([
      { service: 'api', agents: ['lint', 'docstring'] },
      { service: 'discovery' },
      { service: 'worker', status: 'completed', operations: { succeeded: 3 } },
    ])
    const attempts = logged('worker-1', 'attempt ended')
    const [{ trace_id: trace } = {}] = milestones
    expect(trace).toMatch(/^[0-9a-f]{32}$/)
    for (const line of [...milestones, ...attempts]) expect(line).toMatchObject({ run_id: run.id, trace_id: trace })
    const operations = await services.api.operations(run.id)
    const names = (all: readonly { operation_id?: string | undefined; status?: string | undefined }[]) =>
      all.map(({ operation_id: id, status }) => `${id} ${status}`).toSorted()
    expect(names(attempts)).toEqual(names(operations))
    const [byModel] = attempts.filter(({ agent }) => agent === 'docstring')
    expect(byModel).toMatchObject({ run_id: run.id, attempt: 1, end: 'settled', turns: expect.any(Number) })
    expect(byModel?.prompt_tokens).toBeGreaterThan(0)
  })

  it('show every change with its diff and with its evidence', async () => {
    const changes = await services.api.changes(run.id)
    const succeeded = (await services.api.operations(run.id)).filter(({ status }) => status === 'succeeded')
    expect([...new Set(changes.map((change) => change.operation_id))].toSorted()).toEqual(
      succeeded.map((operation) => operation.operation_id).toSorted(),
    )
    for (const { agent, diff, evidence } of changes) {
      expect(diff).toContain('shop/stock.py')
      const checks =
        agent === 'lint' ? [] : ['docstring_only', 'parameters_documented', 'says_something', 'only_node_changed']
      expect(evidence.map(({ check }) => check)).toEqual([...changeChecks, ...checks])
      // The rehearsal model says nothing, which only a person accepts.
      expect(evidence.flatMap(({ check, ok }) => (ok ? [] : check))).toEqual(agent === 'lint' ? [] : ['says_something'])
    }
  })

  it('leave a ledger that agrees with its events, by `remora verify`', async () => {
    const redis = new Redis(stores.redisUrl)
    const { violations, operations } = await openLedger(redis).verify(RunId.parse(run.id))
    await redis.quit()
    expect(violations).toEqual([])
    expect(operations).toBe(3)

    const verify = programs.start(['cli/remora.mjs', 'verify', run.id, '--json'], { env: storeEnv(stores) })
    expect(await verify.exited, verify.err()).toBe(0)
    expect(JSON.parse(verify.out())).toMatchObject({ run_id: run.id, ok: true, violations: [] })
  })

  it('end with exit code 0 on SIGTERM', async () => {
    for (const service of services.all) service.kill('SIGTERM')
    const codes = await Promise.all(services.all.map(async ({ name, exited }) => `${name} ${await exited}`))
    expect(codes).toEqual(services.all.map(({ name }) => `${name} 0`))
  })
})

describe('a service with a bad environment', () => {
  const programs = openPrograms()
  afterAll(() => programs.end())

  const bad = {
    api: { REMORA_TOKEN: 'short', REMORA_SIGNING_KEY: 'short', REMORA_API_PORT: 'eighty', REMORA_REDIS_URL: 'nowhere' },
    discovery: { REMORA_DISCOVERY_THREADS: '-1', REMORA_S3_ENDPOINT: 'no url', REMORA_LOG_LEVEL: 'loud' },
    worker: { REMORA_WORKER_SLOTS: '0', REMORA_MODEL_URLS: 'nowhere', REMORA_DRAIN_MS: 'soon' },
    conductor: { REMORA_LEASE_MS: 'soon', REMORA_MODEL_URLS: 'nowhere', REMORA_CONDUCTOR_HEALTH_PORT: '70000' },
    rehearsal: { REMORA_REHEARSAL_PORT: '70000', REMORA_REHEARSAL_FAULTS: 'no_such_fault:0.5' },
  }

  it.each(Object.entries(bad))('%s exits 1 and names every bad variable in one line', async (name, env) => {
    const service = programs.start([`services/${name}/main.ts`], { env })
    expect(await service.exited).toBe(1)
    const lines = service.err().split('\n')
    const naming = lines.filter((line) => Object.keys(env).every((variable) => line.includes(variable)))
    expect(naming, service.err()).toHaveLength(1)
    expect(naming[0]).toContain('bad environment')
  })
})
