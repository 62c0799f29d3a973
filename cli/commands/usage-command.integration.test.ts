import { expect, it } from 'vitest'
import { dayOf } from '#store/ledger/usage.ts'
import { playRun } from '../../services/api/played-run.fixture.ts'
import { remoraHere } from '../../tests/remora-here.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const remora = (...args: string[]) => remoraHere({ path: '.' }, args, { ...served.env(), REMORA_CONFIG: 'none' })

it('shows what ended operations used, each counted once however often its result is passed on', async () => {
  expect((await remora('usage')).out).toMatch(/^no operation ended from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d\n$/)
  const today = dayOf(Date.now())
  const runId = await playRun(served.api, [
    { name: 'a', fails: { code: 'AGENT_003', reason: 'no' } },
    { name: 'b', fails: { code: 'AGENT_003', reason: 'no' } },
    { name: 'c', fails: { code: 'AGENT_004', reason: 'no' } },
  ])
  await Promise.all([served.api.ledger.relayResults(runId), served.api.ledger.relayResults(runId)])
  await served.api.ledger.relayResults(runId)
  const { operations } = await served.api.ledger.listOperations(runId, { limit: 10 })
  const used = operations.map(({ outcome }) => outcome)
  const total = (figure: 'turns' | 'promptTokens' | 'completionTokens') =>
    used.reduce((sum, outcome) => sum + (outcome?.[figure] ?? 0), 0)
  const expected = {
    operations: 3,
    proposed: 0,
    accepted: 0,
    turns: total('turns'),
    prompt_tokens: total('promptTokens'),
    completion_tokens: total('completionTokens'),
  }
  expect(expected.turns).toBeGreaterThan(0)
  const byAgent = JSON.parse((await remora('usage', '--by', 'agent', '--json')).out)
  expect(byAgent).toMatchObject({ until: today, rows: [{ of: 'lint', ...expected }], total: expected })
  const byDay = JSON.parse((await remora('usage', '--since', today, '--json')).out)
  expect(byDay).toMatchObject({ since: today, rows: [{ of: today, ...expected }] })
  const byProject = JSON.parse((await remora('usage', '--by', 'project', '--json')).out)
  expect(byProject.total).toMatchObject({ operations: 0 }) // the test's own project was never created
  const lines = (await remora('usage', '--by', 'agent')).out.split('\n')
  expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual(['agent', 'lint', 'total', ''])
})

it.each([
  [['--since', '2026-02-01', '--until', '2026-01-01'], 'INTAKE_008'],
  [['--since', '2020-01-01'], 'INTAKE_008'],
  [['--project', 'nosuchproject'], 'PROJECT_001'],
])('says what is wrong with %j', async (args, code) => {
  expect(await remora('usage', ...args)).toMatchObject({
    code: expect.toBeOneOf([1, 2]),
    err: expect.stringContaining(code),
  })
})
