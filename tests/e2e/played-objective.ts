import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { type FrameReader, openFrames, openWebSocket } from '../../services/api/routes/events/event-frames.fixture.ts'
import { remoraHere } from '../remora-here.ts'
import type { RunEvent } from '../run-api.ts'
import { isReady } from '../services.ts'
import type { useServices } from '../use-services.ts'

type Started = ReturnType<typeof useServices>

/** The two ways to follow a run. */
export const wires: Readonly<Record<string, (url: string, token: string) => Promise<FrameReader>>> = {
  'Server-Sent Events': (url, token) => openFrames(url, { authorization: `Bearer ${token}` }),
  'a WebSocket': (url, token) =>
    openWebSocket(url, ['remora', `remora.bearer.${Buffer.from(token).toString('base64url')}`]),
}

/** Starts a conductor or watcher whose model is at that address, as a process of its own; resolves to what ends it. */
export async function startMind(
  services: Started,
  folder: 'conductor' | 'watcher',
  env: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const [port = 0] = await freePorts(1)
  const health = { [`REMORA_${folder.toUpperCase()}_HEALTH_PORT`]: String(port) }
  const settings = { env: { ...services.storeEnv, ...env, ...health } }
  const program = services.programs.start(['scripts/service.mjs', folder], settings)
  await isReady({ ...program, name: folder, origin: `http://127.0.0.1:${port}` })
  return async () => {
    program.kill('SIGTERM')
    expect(await program.exited, program.err()).toBe(0)
  }
}

export type Played = {
  runId: string
  events: readonly RunEvent[]
  status: string
  /** The run's status as each event of its plan, items, reports and decisions arrived. */
  statuses: ReadonlyMap<string, string>
}

type Play = {
  wire: string
  archive: Uint8Array
  request: object
  milestones: string[]
  /** Is done beside it, as soon as it is accepted. */
  beside?: (runId: string) => Promise<void>
}

/** Submits a run, follows it over that wire to its end, and requires the milestones of its timeline while it goes on. */
export async function play(services: Started, { wire, archive, request, milestones, beside }: Play): Promise<Played> {
  const runId = await services.api.submit(archive, request)
  const following = follow(services, wire, runId)
  const [followed] = await Promise.all([following, reach(services, runId, milestones), beside?.(runId)])
  const { code, out, err } = await remoraHere({ path: tmpdir() }, ['verify', runId], services.storeEnv)
  expect(code, out + err).toBe(0)
  return { runId, ...followed }
}

async function follow({ api, token, named }: Started, wire: string, runId: string): Promise<Omit<Played, 'runId'>> {
  const events: RunEvent[] = []
  const statuses = new Map<string, string>()
  const reader = await wires[wire]?.(`${named('api').origin}/v1/runs/${runId}/events`, token)
  for await (const frame of reader?.frames() ?? []) {
    if (frame.type === 'end') return { events, statuses, status: frame.status }
    if (frame.type !== 'event') continue
    events.push(frame.event)
    const { event } = frame.event
    if (/^(?:agenda|conductor|item|finding|learning|progress)\./.test(event))
      statuses.set(event, (await api.run(runId)).status)
  }
  throw new Error(`what was heard of the run has no end: ${events.map(({ event }) => event).join(', ')}`)
}

/** Resolves once the run has had all milestones. Throws RUN_003 as soon as one cannot come any more. */
export async function reach({ api }: Started, runId: string, milestones: readonly string[]): Promise<void> {
  await until(
    async () => {
      const { ended_at: endedAt } = await api.run(runId)
      const path = `/v1/runs/${runId}/timeline?limit=1&required_milestones=${milestones.join(',')}`
      const answer = await api.ask(path)
      const text = await answer.text()
      if (answer.status !== 200 && (answer.status !== 422 || endedAt !== null)) throw new Error(text)
      return answer.status
    },
    { holds: (status) => status === 200, withinMs: 150_000 },
  )
}

/** What was decided and what became of items, in order. */
export function story(events: readonly RunEvent[]): string[] {
  return events.flatMap(({ event, data }) => {
    if (event === 'conductor.decided') return `${event} ${String(data['kind'])}`
    if (event === 'escalation.raised') return `${event} ${String(data['kind'])}`
    if (event.startsWith('item.')) return `${event} ${String(data['item_id'])}`
    return /^(?:agenda|objective|plan|run)\./.test(event) ? event : []
  })
}
