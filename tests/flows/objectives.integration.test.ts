import { describe, expect, it, onTestFinished } from 'vitest'
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
  const { conductor } = parseConfig({
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

/** What was decided and what became of items, in order. */
function story(events: readonly RunEvent[]): string[] {
  return events.flatMap(({ event, data }) => {
    const { kind, item_id: id } = data
    if (event === 'conductor.decided') return `${event} ${String(kind)}`
    if (event.startsWith('item.')) return `${event} ${String(id)}`
    return /^(?:agenda|objective|plan|run)\./.test(event) ? event : []
  })
}

const requests = (events: readonly RunEvent[]) =>
  events.filter(({ data }) => 'schema_hash' in data).reduce((sum, { data }) => sum + Number(data['requests']), 0)
const begun = ['run.accepted', 'run.started']

describe('a run with an objective', () => {
  it('is planned, carried out and answered with one plan and one decision', async () => {
    const { events, status, operations } = await conducted('basic', { agents: ['lint'] })
    expect(story(events)).toEqual([
      ...begun,
      'agenda.decided',
      'item.started lint',
      'item.ended lint',
      'conductor.decided complete',
      'run.composed',
      'run.completed',
    ])
    expect([status, requests(events)]).toEqual(['completed', 2])
    expect(operations.length).toBeGreaterThan(0)
    expect(operations.map((operation) => operation.status)).not.toContain('failed')
  })

  it('that the model blocks ends as blocked, with the reason, and nothing was executed', async () => {
    const { events, status, run, operations } = await conducted('blocked', { agents: ['lint'] })
    expect(story(events)).toEqual([...begun, 'conductor.decided block', 'run.composed', 'run.blocked'])
    expect(run).toMatchObject({
      status: 'blocked',
      error_code: 'POLICY_003',
      reason: expect.stringContaining('blocks'),
    })
    expect([status, operations, requests(events)]).toEqual(['blocked', [], 1])
  })

  it('goes another way when an item that another depends on has not reached what it was to', async () => {
    const { events, status, run } = await conducted('replan', { agents: ['lint'] })
    expect(story(events)).toEqual([
      ...begun,
      'agenda.decided',
      'item.started first',
      'item.ended first',
      'conductor.decided follow_up',
      'item.started lint',
      'item.ended lint',
      'conductor.decided complete',
      'run.composed',
      'run.completed',
    ])
    expect([status, requests(events), run.status]).toEqual(['completed', 3, 'completed'])
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
