import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms, repository } from '../program.ts'
import { type Services, startServices, startStores, type Stores } from '../services.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'

const Answer = z.object({
  status: z.string(),
  data: z.object({ result: z.array(z.unknown()) }).optional(),
  error: z.string().optional(),
})
const Dashboard = z.looseObject({
  panels: z.array(z.looseObject({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
})

describe.skipIf(lacks('prometheus'))('a Prometheus that scrapes the services', () => {
  const programs = openPrograms()
  const open: { stores?: Stores; dir?: string; stop?: () => Promise<unknown> } = {}
  let services: Services
  let url = ''

  beforeAll(async () => {
    const stores = (open.stores = await startStores())
    services = await startServices(programs, stores)
    const dir = (open.dir = await mkdtemp(join(tmpdir(), 'remora-prometheus-')))
    const [port] = await freePorts(1)
    url = `http://127.0.0.1:${port}`
    await writeFile(join(dir, 'prometheus.yaml'), configFor(services))
    const args = [`--config.file=${dir}/prometheus.yaml`, `--storage.tsdb.path=${dir}/data`]
    const child = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
    const gone = once(child, 'close')
    open.stop = async () => {
      child.kill('SIGTERM')
      await gone
    }
    const folder = await sourceFolder({ 'prices.py': manyFunctions(20) })
    // A rate begins with the second value of a counter, which a first run makes and another one raises.
    for (const expr of ['remora_operations_total', 'sum(rate(remora_operations_total[5m])) > 0']) {
      const runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
      await services.api.follow(runId)
      await until(() => query(expr), { holds: ({ length }) => length > 0, withinMs: 60_000 })
    }
    await folder.remove()
  })
  afterAll(async () => {
    await open.stop?.()
    await programs.end()
    await open.stores?.stop()
    if (open.dir !== undefined) await rm(open.dir, { recursive: true, force: true })
  })

  async function query(expr: string): Promise<unknown[]> {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`).catch(() => undefined)
    if (answer === undefined) return []
    const { status, data, error } = Answer.parse(await answer.json())
    expect([status, error], expr).toEqual(['success', undefined])
    return data?.result ?? []
  }

  it('can answer every panel of the dashboard, most of them after one run', async () => {
    const { panels } = Dashboard.parse(
      JSON.parse(await readFile(`${repository}infra/grafana/remora-dashboard.json`, 'utf8')),
    )
    // What nothing of these runs has: work that waits, failures, jobs of queues that are empty, and what the publisher has, which is not there.
    const mayBeEmpty = [
      'Age of the oldest run',
      'Failures, by agent and code',
      'Webhooks and runs that wait for the publisher',
      'Publications and pull requests, 1 h',
      'Requests to GitHub',
      'Requests to models that did not go well',
    ]
    const asked = panels.filter(({ title }) => !mayBeEmpty.includes(title)).flatMap(({ targets }) => targets)
    expect(asked.length).toBeGreaterThan(20)
    for (const { expr } of asked) await until(() => query(expr), { holds: ({ length }) => length > 0 })
  })

  it('loads the alerts, and none of them fires for services that work', async () => {
    const answer = await (await fetch(`${url}/api/v1/rules`)).json()
    const Loaded = z.object({
      groups: z.array(z.object({ rules: z.array(z.looseObject({ state: z.string(), health: z.string() })) })),
    })
    const { groups } = Loaded.parse(z.object({ data: z.unknown() }).parse(answer).data)
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.length).toBeGreaterThan(10)
    expect(rules.filter(({ state }) => state === 'firing')).toEqual([])
    expect(rules.filter(({ health }) => health === 'err')).toEqual([])
  })
})

function configFor({ named }: Services): string {
  const job = (name: string, service: string) => ({
    job_name: `remora-${service}`,
    static_configs: [{ targets: [new URL(named(name).health ?? '').host] }],
  })
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [`${repository}infra/prometheus/alerts.yaml`],
    scrape_configs: [job('api', 'api'), job('discovery', 'discovery'), job('worker-1', 'worker')],
  })
}
