import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { repository } from '../program.ts'
import type { RunEvent } from '../run-api.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

/** The shipped bundles, but the script that reads docstrings computes until its time limit. */
async function spinningAgents(): Promise<string> {
  const agents = await mkdtemp(join(tmpdir(), 'remora-agents-'))
  await cp(join(repository, 'agents'), agents, { recursive: true })
  const script = join(agents, 'docstring/tools/read_docstring.pym')
  const text = await readFile(script, 'utf8')
  await writeFile(script, text.replace('facts = await', 'while True:\n    pass\nfacts = await'))
  return agents
}

describe('a run that is cancelled while tool scripts compute', () => {
  const open: { agents?: string } = {}
  const services = useServices(async () => {
    const agents = (open.agents = await spinningAgents())
    // A heartbeat is sent after a third of the lease: the signal ends the scripts below, not a heartbeat.
    const workerEnv = { REMORA_LEASE_MS: '3600000', REMORA_WORKER_SLOTS: '4', REMORA_WORKER_SCRIPT_PROCESSES: '1' }
    return { workers: ['worker-1', 'worker-2'], workerEnv, discoveryEnv: { REMORA_AGENTS_DIR: agents } }
  })
  afterAll(async () => {
    if (open.agents !== undefined) await rm(open.agents, { recursive: true, force: true })
  })

  const callOf = ({ operation_id: id, data }: RunEvent) => `${id} ${String(data['call_id'])}`
  const unanswered = (events: readonly RunEvent[]) => {
    const answered = new Set(events.filter(({ event }) => event === 'tool.returned').map(callOf))
    return events.filter((one) => one.event === 'tool.called' && !answered.has(callOf(one)))
  }

  it('ends them on every worker instead of waiting for their limits', async () => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(40) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await until(async () => unanswered((await services.api.events(runId, 0, 1000)).events), {
      holds: (called) => new Set(called.map(({ origin }) => origin.id)).size === 2 && called.length >= 8,
    })
    const answer = await services.api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST' })
    expect(answer.status).toBe(202)
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('cancelled')
    // One script process runs one script at a time, for two seconds each: without the signal most would have answered.
    const ended = unanswered(events)
    expect(ended.length).toBeGreaterThanOrEqual(6)
    const outcomes = new Map((await services.api.operations(runId)).map((one) => [one.operation_id, one.outcome]))
    for (const { operation_id: id = '' } of ended) expect(outcomes.get(id)?.error_code).toBe('AGENT_010')
    await folder.remove()
    await services.verify(runId)
  })
})
