import { expect, it } from 'vitest'
import { anItem, openConducted, playPlan, playStep } from '../../services/api/played-agenda.fixture.ts'
import { submitRun } from '../../services/api/played-run.fixture.ts'
import { until } from '#testing/until.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()

const items = [
  anItem({ item_id: 'lint', where: { paths: ['src/**'] } }),
  anItem({
    item_id: 'docs',
    capability: 'docstring',
    objective: 'every public function has one',
    depends_on: ['lint'],
  }),
]

const atWidth = (...args: string[]) => served.remoraWith({ columns: 80 }, ...args)

it('draws the plan within 80 columns, with why it is so', async () => {
  const runId = await openConducted(served.api, { objective: 'lint is clean and every function has a docstring' })
  expect((await atWidth('show', runId, '--plan')).out).toContain('Nothing is planned yet.')
  await playPlan(served.api, runId, items)
  const { out } = await atWidth('show', runId, '--plan')
  expect(out).toContain(`lint: waiting
  lint in src/**: clean the lint
  to be reached: no work is left
docs: waiting, after lint
  docstring everywhere: every public function has one
`)
  expect(out).toMatch(/event \d+: planned lint, docs \(planner, 1,234 tokens, confidence 0\.8\)\n  why: the nodes have/)
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  const why = (await atWidth('why', runId, 'docs')).out
  expect(why).toMatch(/  it rests on:\n    event 2: run started\n/)
  expect(why).toMatch(/What was known for event \d+:\n  lint: 3 nodes\n/)
  await expect(served.remora('why', runId, 'types')).rejects.toMatchObject({
    code: 'RUN_004',
    message: `Run "${runId}" has no item "types"; its items: lint, docs`,
  })
})

it('shows a plan and approves it, but none that has changed since', async () => {
  const runId = await openConducted(served.api, { objective: 'lint is clean', approval: 'plan' })
  await expect(served.remora('approve', runId)).rejects.toMatchObject({ code: 'RUN_011' })
  const hash = 'a1b2c3'.repeat(10)
  await playPlan(served.api, runId, items, hash)
  expect((await served.remora('show', runId)).out).toContain(`remora approve ${runId}`)
  await expect(served.remora('approve', runId, 'a1b2c3a1b2d3')).rejects.toMatchObject({ code: 'RUN_011' })
  const shown = (await served.remora('show', runId, '--plan')).out
  const [, named = ''] = new RegExp(`remora approve ${runId} (\\w+)\\n`).exec(shown) ?? []
  const approved = (await served.remora('approve', runId, named)).out
  expect(approved).toMatch(/lint: waiting\n[^]*\napproved: plan a1b2c3a1b2c3\n$/)
  expect(await playStep(served.api, runId, (state) => state)).toMatchObject([{ kind: 'approved', plan_hash: hash }])
})

it('says more to a run with an objective, and to no other', async () => {
  const runId = await openConducted(served.api)
  expect((await served.remora('say', runId, 'leave', 'tests', 'alone')).out).toContain('sent')
  expect(await playStep(served.api, runId, (state) => state)).toMatchObject([
    { kind: 'said', text: 'leave tests alone' },
  ])
  const other = await submitRun(served.api)
  await expect(served.remora('say', other, 'more')).rejects.toMatchObject({ code: 'RUN_012' })
})

it('shows the answer of a model without what a terminal would obey', async () => {
  const runId = await submitRun(served.api)
  const { ledger } = served.api
  const asking = atWidth('ask', runId, 'why?')
  const events = await until(() => ledger.readEvents(runId, { after: 0, limit: 100 }), {
    holds: (all) => all.at(-1)?.event === 'ask.received',
  })
  const askId = String(events.at(-1)?.data['ask_id'])
  const answer = { text: `\u001b]0;owned\u0007It ended. ${'word '.repeat(30)}`, events: [1], paths: [], findings: [] }
  const cost = { prompt_tokens: 0, completion_tokens: 0 }
  const data = { ask_id: askId, answer, model: 'm', prompt_hash: '', schema_hash: '', ...cost }
  const event = { event: 'ask.answered', phase: 'execution', origin: { kind: 'conductor', id: 'c1' }, data } as const
  await ledger.whileHolding(runId, 'answering', (_lost, token) => ledger.endAsk(runId, { token, event }))
  const { out } = await asking
  expect(out).toMatch(/^Answer:\n.*It ended\./)
  expect(JSON.stringify(out)).not.toMatch(/\\u00(?:1b|07)/)
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
})
