import { describe, expect, it, onTestFinished } from 'vitest'
import { EventName, eventTable } from '#domain/events/event-table.ts'
import { defaultProject } from '#domain/ids.ts'
import { silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { parseConfig } from '../../services/conductor/conductor-config.ts'
import { startConductor } from '../../services/conductor/conductor-service.ts'
import type { RunEvent } from '../run-api.ts'
import { storeEnv } from '../services.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const folder = useSourceFolder({
  'shop/stock.py': 'import os\n\n\ndef label(row):\n    return f"shelf" + row\n',
  'old/prices.py': 'import sys\n\n\nclass Price:\n    value = 1\n',
})

const services = useOneProcess()

/** Has a run decided on by the policy of that name, with every service but the conductor shared, and returns what it came to. */
async function conducted(policy: string, request: object) {
  const { config: conductor } = parseConfig({
    ...storeEnv(services.stores),
    REMORA_MODEL_URLS: `${services.named('rehearsal').origin}/v1`,
    REMORA_CONDUCTOR_MODEL: `rehearsal/${policy}`,
    REMORA_CONDUCTOR_HEALTH_PORT: '0',
  })
  const { close } = await startConductor(conductor, { log: silentLog, redactor: openRedactor([]) })
  onTestFinished(close)
  const runId = await services.api.submit(await folder.pack(), {
    objective: '`ls -la` && ./x; keep it tidy',
    ...request,
  })
  const { events, status } = await services.api.follow(runId)
  const { code, out, err } = await services.verify(runId)
  expect(code, out + err).toBe(0)
  return { runId, events, status, run: await services.api.run(runId), operations: await services.api.operations(runId) }
}

const decisionsIn = (events: readonly RunEvent[]) => events.filter(({ data }) => 'schema_hash' in data)
const requests = (events: readonly RunEvent[]) =>
  decisionsIn(events).reduce((sum, { data }) => sum + Number(data['requests']), 0)

/** The steps of a run: what it and who decides about it do, and the beginning and end of its operations. */
const stepsOf = (events: readonly RunEvent[]) =>
  events.filter(
    ({ event, operation_id: id }) => id === undefined || event === 'operation.started' || event === 'operation.ended',
  )

/** What the model that decides was asked, and what it answered, whatever the words of the objective. */
const callsIn = (events: readonly RunEvent[]) =>
  decisionsIn(events).map(({ event, data: { kind, items, item_ids: ids, schema_hash: schema, requests: count } }) => {
    return { event, kind, items, ids, schema, count }
  })

describe('a run with an objective', () => {
  it('has fewer than 15 steps from its prompt to its end, each as its schema says, and one plan and one decision', async () => {
    const { events, status } = await conducted('basic', { agents: ['lint'], paths: ['shop/stock.py'] })
    const steps = stepsOf(events)
    for (const { event, data } of events)
      expect(eventTable[EventName.parse(event)].data.safeParse(data).error).toBeUndefined()
    expect(steps.length, steps.map(({ event }) => event).join(', ')).toBeLessThan(15)
    expect([steps[0]?.event, steps.at(-1)?.event, status]).toEqual(['run.accepted', 'run.completed', 'completed'])
    expect(decisionsIn(events).map(({ event }) => event)).toEqual(['agenda.decided', 'conductor.decided'])
    expect(requests(events)).toBe(2)
  })

  it.for([
    ['none', []],
    ['one', ['lint']],
    ['several', ['lint', 'docstring', 'review']],
  ] as const)('begins what the policy "%s" plans, and nothing else', async ([policy, items]) => {
    const { events } = await conducted(policy, { agents: ['lint', 'docstring', 'review'] })
    const begun = events.flatMap(({ event, data }) => (event === 'item.started' ? [data['item_id']] : []))
    expect([new Set(begun), requests(events)]).toEqual([new Set(items), 2])
  })

  it('is decided on by the same calls, however its objective is said, also in the words of a shell', async () => {
    const words = ['lint is clean', 'Please see to it that the linter is content.', 'ls -la', './x', 'a && b']
    const runs = await Promise.all(
      words.map((objective) => conducted('basic', { objective, agents: ['lint'], paths: ['shop/stock.py'] })),
    )
    const [first, ...others] = runs.map(({ events }) => callsIn(events))
    expect(first).toHaveLength(2)
    for (const calls of others) expect(calls).toEqual(first)
  })

  it('is answered with files that exist: one that is cited and not there is refused; what was said is missed when it is gone', async () => {
    const { runId, events, status } = await conducted('citing', { agents: ['lint'], paths: ['shop/stock.py'] })
    expect([status, requests(events)]).toEqual(['completed', 3])
    const decided = events.find(({ event }) => event === 'conductor.decided')
    expect(decided?.data).toMatchObject({ kind: 'complete', requests: 2, answer: { paths: ['shop/stock.py'] } })
    const { accessKeyId, secretAccessKey, ...place } = services.stores.s3
    const objects = openS3ObjectStore({ ...place, credentials: { accessKeyId, secretAccessKey } })
    await objects.delete(objectKeys.decision(defaultProject, runId, String(decided?.data['record_hash'])))
    objects.close()
    expect(await services.verify(runId)).toMatchObject({
      code: 1,
      out: expect.stringContaining('the decision of event'),
    })
  })
})
