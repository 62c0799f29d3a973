import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Rationale } from '#domain/agenda.ts'
import { type Rehearsal, startRehearsal } from '#rehearsal/rehearsal-server.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { Timeline } from '#schemas/timeline-schema.ts'
import { until } from '#testing/until.ts'
import type { RunEvent } from '../run-api.ts'
import { useServices, useSourceFolder } from '../use-services.ts'
import { play, type Played, reach, startMind, story, wires } from './played-objective.ts'

// The seven scenarios of a run with an objective, each over both wires, on services that are processes of their own.

const names = Array.from({ length: 16 }, (_, index) => `part_${index}`)
const folder = useSourceFolder({
  'shop/stock.py': 'import os\n\n\ndef label(row):\n    # TODO: sort\n    return f"shelf" + row\n',
})
const many = useSourceFolder(
  Object.fromEntries(names.map((name) => [`shop/${name}.py`, `def ${name}(row):\n    return row\n`])),
)
/** Few slots, so that the operations of a run do not all fail before the watcher has looked. */
const services = useServices({ workerEnv: { REMORA_WORKER_SLOTS: '2' } })
const eachWire = Object.keys(wires)
const { lack: sandboxLack } = await testSandbox(process.env)

/** Decides and reviews; what works is asked elsewhere, so that each request of who decides can be counted. */
let mind: Rehearsal
beforeAll(async () => {
  mind = await startRehearsal({ host: '127.0.0.1', port: 0, latencyMs: 300 })
})
afterAll(() => mind.close())

/** Has the runs of a scenario decided on by the policy of that name. */
function decideBy(policy: string): void {
  let end: () => Promise<void>
  beforeAll(async () => {
    const env = { REMORA_MODEL_URLS: mind.url, REMORA_CONDUCTOR_MODEL: `rehearsal/${policy}` }
    end = await startMind(services, 'conductor', env)
  })
  afterAll(() => end())
}

const objective = 'every function is explained, and lint is clean'
const asked = async () => (await mind.load()).asked

type Scenario = { wire: string; milestones: string[]; request?: object }

/** `calls`: how often the model that decides was asked for it. */
async function played({ wire, milestones, request }: Scenario): Promise<Played & { calls: number }> {
  const before = await asked()
  const archive = await folder.pack()
  const run = await play(services, { wire, archive, milestones, request: { objective, agents: ['lint'], ...request } })
  return { ...run, calls: (await asked()) - before }
}

const Decided = z.object({ rationale: Rationale, model: z.literal('rehearsal model (no LLM)') })
const decisionsIn = (events: readonly RunEvent[]) => events.filter(({ data }) => 'schema_hash' in data)

function expectReasons(events: readonly RunEvent[]): void {
  for (const { data } of decisionsIn(events)) {
    const { rationale } = Decided.parse(data)
    expect(rationale.text).toContain('script')
  }
}

const begun = ['run.accepted', 'run.started']
const ended = ['run.composed', 'run.completed']
const basicStory = [
  ...begun,
  'agenda.decided',
  'item.started lint',
  'item.ended lint',
  'conductor.decided complete',
  ...ended,
]

describe('basic', () => {
  decideBy('basic')

  it.for(eachWire)('is planned, carried out and answered with one plan and one decision, over %s', async (wire) => {
    const milestones = ['agenda.decided', 'item.ended', 'conductor.decided', 'run.completed']
    const { events, status, statuses, calls, runId } = await played({ wire, milestones })
    expect(story(events)).toEqual(basicStory)
    expect([status, calls]).toEqual(['completed', 2])
    expect(statuses.get('agenda.decided')).toBe('running')
    expect(statuses.get('item.started')).toBe('running')
    expectReasons(events)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, at) => at + 1))
    expect((await services.api.operations(runId)).map((operation) => operation.status)).toEqual(['succeeded'])
  })

  it('20 runs at once are told of their own events alone, and each is decided on twice', async () => {
    const [before, archive] = [await asked(), await folder.pack()]
    const both = Object.keys(wires)
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const request = { objective: `objective ${at}`, agents: ['lint'] }
        return play(services, { wire: both[at % 2] ?? '', archive, request, milestones: ['run.completed'] })
      }),
    )
    for (const { runId, events, status } of runs) {
      expect(new Set(events.map(({ run_id: id }) => id))).toEqual(new Set([runId]))
      expect([status, story(events)]).toEqual(['completed', basicStory])
    }
    const objectives = await Promise.all(runs.map(async ({ runId }) => (await timelineOf(runId)).objective))
    expect(objectives).toEqual(runs.map((_run, at) => `objective ${at}`))
    expect((await asked()) - before).toBe(40)
  })

  it.for(eachWire)('says at every moment what it does or waits for, beside %s', async (wire) => {
    await services.setModel('latency', { ms: 100 })
    const seen: Timeline[] = []
    const beside = async (runId: string) => {
      await until(async () => seen.push(await timelineOf(runId)) > 0 && seen.at(-1)?.status === 'completed')
    }
    const request = { objective, agents: ['docstring'] }
    await play(services, { wire, archive: await many.pack(), request, milestones: ['run.accepted'], beside })
    await services.setModel('latency', { ms: 0 })
    expect(seen.filter(({ current_step: step }) => step.trim() === '')).toEqual([])
    const steps = seen.map(({ current_step: step }) =>
      step.replace(/^(works on operations|composes its patch)\b.*/, '$1'),
    )
    const shown = ['decides what to do next', 'works on operations', 'has ended: completed']
    const changes = steps.filter((step) => shown.includes(step)).filter((step, at, all) => step !== all[at - 1])
    expect(changes, steps.join('; ')).toEqual([shown[0], shown[1], shown[0], shown[2]])
    const agents = seen.flatMap(({ active_operations: active }) => active.map(({ agent }) => agent))
    expect(new Set(agents)).toEqual(new Set(request.agents))
    const parts = seen.flatMap(({ active_operations: active }) => active.map((operation) => operation.current_step))
    expect(parts).toContain('observing')
  })

  it.for(eachWire)('is told live, what it finds, learns and runs too, while it runs, over %s', async (wire) => {
    const request = { agents: sandboxLack === undefined ? ['researcher', 'terminal'] : ['researcher'] }
    const reports = [
      'finding.reported',
      'learning.reported',
      ...(sandboxLack === undefined ? ['progress.reported'] : []),
    ]
    const { events, statuses, status } = await played({ wire, milestones: [...reports, 'run.completed'], request })
    expect(status).toBe('completed')
    const order = events.map(({ event }): string => event)
    for (const report of reports) {
      const told = ['agenda.decided', 'item.started', report, 'item.ended', 'conductor.decided', ...ended]
      const places = told.map((name) => (name === 'item.ended' ? order.lastIndexOf(name) : order.indexOf(name)))
      expect(places).not.toContain(-1)
      expect(places, report).toEqual(places.toSorted((a, b) => a - b))
      expect(statuses.get(report), report).toBe('running')
    }
    const said = events.filter(({ event }) => event === 'progress.reported').map(({ data }) => Object.keys(data))
    expect(said.flat().filter((key) => key === 'action' || key === 'reasoning_summary')).toHaveLength(2 * said.length)
    expect([statuses.get('agenda.decided'), statuses.get('item.started')]).toEqual(['running', 'running'])
  })
})

async function timelineOf(runId: string): Promise<Timeline> {
  return Timeline.parse(await (await services.api.ask(`/v1/runs/${runId}/timeline`)).json())
}

describe('blocked', () => {
  decideBy('blocked')

  it.for(eachWire)('ends with the reason, and nothing was executed, over %s', async (wire) => {
    const { runId, events, status, calls } = await played({ wire, milestones: ['conductor.decided', 'run.blocked'] })
    expect(story(events)).toEqual([...begun, 'conductor.decided block', 'run.composed', 'run.blocked'])
    expect([status, calls, await services.api.operations(runId)]).toEqual(['blocked', 1, []])
    expect(await services.api.run(runId)).toMatchObject({
      error_code: 'POLICY_003',
      reason: expect.stringContaining('blocks'),
    })
    expectReasons(events)
    await expect(reach(services, runId, ['run.blocked', 'item.started'])).rejects.toThrow('RUN_003')
  })
})

describe('replan', () => {
  decideBy('replan')

  it.for(eachWire)('goes another way when a dependency has not reached what it was to, over %s', async (wire) => {
    const milestones = ['item.started', 'conductor.decided', 'run.completed']
    const { events, status, statuses, calls } = await played({ wire, milestones })
    expect(story(events)).toEqual([
      ...begun,
      'agenda.decided',
      'item.started first',
      'item.ended first',
      'conductor.decided follow_up',
      'item.started lint',
      'item.ended lint',
      'conductor.decided complete',
      ...ended,
    ])
    expect([status, calls, statuses.get('agenda.decided')]).toEqual(['completed', 3, 'running'])
    expectReasons(events)
  })
})

describe('watcher wake', () => {
  decideBy('wake')
  let endWatcher: () => Promise<void>
  beforeAll(async () => {
    endWatcher = await startMind(services, 'watcher', { REMORA_MODEL_URLS: mind.url })
  })
  afterAll(() => endWatcher())

  it.for(eachWire)('adds to its plan once for what the watcher raises, over %s', async (wire) => {
    const before = await asked()
    await services.setModel('latency', { ms: 400 })
    await services.setModel('faults', { shares: { no_tool_call: 1 }, times: 2 * names.length })
    const request = { objective, agents: ['docstring'] }
    const milestones = ['escalation.raised', 'conductor.decided', 'run.completed']
    const beside = async (runId: string) => {
      await reach(services, runId, ['escalation.raised'])
      await services.setModel('latency', { ms: 0 })
    }
    const archive = await many.pack()
    const { events, status } = await play(services, { wire, archive, request, milestones, beside })
    expect(story(events)).toEqual([
      ...begun,
      'agenda.decided',
      'item.started docstring',
      'escalation.raised failure_spike',
      'item.ended docstring',
      'conductor.decided follow_up',
      'item.started wake-1',
      'item.ended wake-1',
      'conductor.decided complete',
      ...ended,
    ])
    const raised = events.find(({ event }) => event === 'escalation.raised')
    const last = events.findLast(({ event }) => event === 'item.ended')
    const decided = events.filter(({ event }) => event === 'conductor.decided')
    expect(decided.map((event) => event.causation_seq)).toEqual([raised?.seq, last?.seq])
    expectReasons(events)
    expect([status, (await asked()) - before]).toEqual(['completed', 4])
  })
})
