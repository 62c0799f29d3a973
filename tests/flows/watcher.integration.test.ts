import { z } from 'zod'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventOfWire, WireEvent } from '#domain/event.ts'
import type { WatchThresholds } from '#domain/events/watcher-events.ts'
import { silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { watchEvents } from '#stages/watch/detectors.ts'
import { unwatched } from '#stages/watch/watch-state.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { parseConfig } from '../../services/watcher/watcher-config.ts'
import { startWatcher } from '../../services/watcher/watcher-service.ts'
import { until } from '#testing/until.ts'
import type { RunEvent } from '../run-api.ts'
import { storeEnv } from '../services.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const names = Array.from({ length: 16 }, (_, index) => `part_${index}`)
const folder = useSourceFolder(
  Object.fromEntries(names.map((name) => [`shop/${name}.py`, `def ${name}(row):\n    return row\n`])),
)
const services = useOneProcess({ workerEnv: { REMORA_WORKER_SLOTS: '2' } })
const quiet = { log: silentLog, redactor: openRedactor([]) }

/** The model that reviews is not the one that works, whose faults would be its own, too. */
async function startReviews(): Promise<{ thresholds: WatchThresholds }> {
  const mind = await startRehearsal({ host: '127.0.0.1', port: 0 })
  onTestFinished(mind.close)
  const env = { ...storeEnv(services.stores), REMORA_MODEL_URLS: mind.url }
  const { config: watcher } = parseConfig({ ...env, REMORA_WATCHER_HEALTH_PORT: '0' })
  const { close } = await startWatcher(watcher, quiet)
  onTestFinished(close)
  return { thresholds: watcher.thresholds }
}

async function setWorker(what: 'faults' | 'latency', settings: object): Promise<void> {
  const { origin } = services.named('rehearsal')
  await fetch(`${origin}/${what}`, { method: 'POST', body: JSON.stringify(settings) })
}

/** With `faults` the model that works has them, and is slow until the watcher has raised something. */
async function followed(request: object, faults?: object): Promise<readonly RunEvent[]> {
  if (faults !== undefined) await Promise.all([setWorker('latency', { ms: 400 }), setWorker('faults', faults)])
  const runId = await services.api.submit(await folder.pack(), request)
  if (faults !== undefined)
    await until(async () => ofWatcher((await services.api.events(runId, 0, 1_000)).events).length > 1)
  await setWorker('latency', { ms: 0 })
  const { events } = await services.api.follow(runId)
  const { code, out, err } = await services.verify(runId)
  expect(code, out + err).toBe(0)
  return events
}

const ofWatcher = (events: readonly RunEvent[]) =>
  events.flatMap(({ event, data }) =>
    /^(?:watcher|escalation)\./.test(event) ? `${event} ${z.string().parse(data['kind'])}` : [],
  )

const kindsIn = (events: readonly RunEvent[], thresholds: WatchThresholds) =>
  watchEvents(
    unwatched,
    events.map((event) => eventOfWire(WireEvent.parse(event))),
    { thresholds, budget: null },
  ).pending.map(({ kind }) => kind)

describe('a run beside a watcher', () => {
  it('that goes well is left in peace', async () => {
    const { thresholds } = await startReviews()
    const events = await followed({ agents: ['docstring', 'lint'] })
    expect(ofWatcher(events)).toEqual([])
    expect(kindsIn(events, thresholds)).toEqual([])
  })

  it.each([
    ['a model that calls no tool', { no_tool_call: 1 }, 'failure_spike'],
    ['a model that writes broken arguments', { malformed_arguments: 1 }, 'failure_spike'],
  ])('has %s told while it goes on, once', async (_what, shares, kind) => {
    const { thresholds } = await startReviews()
    const events = await followed({ agents: ['docstring'] }, { shares })
    await setWorker('faults', { shares: {} })
    expect(kindsIn(events, thresholds)).toEqual([kind])
    expect(ofWatcher(events)).toEqual([`watcher.reviewed ${kind}`, `escalation.raised ${kind}`])
    expect(events.find(({ event }) => event === 'watcher.reviewed')?.data).toMatchObject({ thresholds })
  })
})
