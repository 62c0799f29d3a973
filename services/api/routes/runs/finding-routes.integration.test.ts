import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FindingView } from '#schemas/finding-schema.ts'
import { composeRun, plannedOperation, playOperations, playRepeat, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const Page = z.strictObject({ findings: z.array(FindingView), next: z.string().nullable() })

const endings = [
  {
    name: 'one',
    leaves: 'read',
    finds: [{ claim: 'first' }, { claim: 'second', severity: 'error' as const, line: 3 }],
  },
  { name: 'two', leaves: 'read' },
  { name: 'three', fails: { code: 'AGENT_004', reason: 'turn limit' } },
  { name: 'four', leaves: 'read', finds: [{ claim: 'third', path: 'src/b.py', rule: 'races' }] },
]

async function pageOf(runId: string, query = '') {
  return Page.parse(await (await api.ask(`/v1/runs/${runId}/findings${query}`)).json())
}
const claimsOf = async (runId: string, query = '') => (await pageOf(runId, query)).findings.map(({ claim }) => claim)

describe('GET /v1/runs/{run_id}/findings', () => {
  it('shows what was reported, by which operation, in the order of the plan', async () => {
    const runId = await playRun(api, endings)
    const { operationId, node } = plannedOperation('four')
    expect(await claimsOf(runId)).toEqual(['first', 'second', 'third'])
    expect((await pageOf(runId)).findings.at(-1)).toEqual({
      claim: 'third',
      path: 'src/b.py',
      line: 1,
      end_line: 1,
      line_text: '',
      severity: 'warning',
      confidence: 0.5,
      rule: 'races',
      agent: 'lint',
      operation_id: operationId,
      node_id: node.nodeId,
      qualified_name: 'four',
    })
    expect(await (await api.ask(`/v1/runs/${runId}`)).json()).toMatchObject({ findings: 3 })
    const operation = await api.ask(`/v1/runs/${runId}/operations/${plannedOperation('one').operationId}`)
    expect(await operation.json()).toMatchObject({ outcome: { findings: 2 } })
    expect((await api.ledger.verify(runId)).violations).toEqual([])
  })

  it('pages by operations, and passes over those that reported nothing', async () => {
    const runId = await playRun(api, endings)
    const first = await pageOf(runId, '?limit=1')
    expect(first.findings.map(({ claim }) => claim)).toEqual(['first', 'second'])
    const second = await pageOf(runId, `?limit=1&cursor=${first.next}`)
    expect(second.findings.map(({ claim }) => claim)).toEqual(['third'])
    expect(await pageOf(runId, `?limit=1&cursor=${second.next}`)).toEqual({ findings: [], next: null })
    expect(await pageOf(runId, '?cursor=7')).toEqual({ findings: [], next: null })
  })

  it.each([
    ['?severity=error', ['second']],
    ['?path=src', ['third']],
    ['?path=**/*.py&severity=warning', ['first', 'third']],
    ['?agent=lint', ['first', 'second', 'third']],
    ['?agent=review', []],
  ])('filters by %s', async (query, claims) => {
    expect(await claimsOf(await playRun(api, endings), query)).toEqual(claims)
  })

  it.each(['?severity=bad', '?path=', '?agent=', '?cursor=x', '?limit=0', '?no=1'])('refuses %s', async (query) => {
    const answer = await api.ask(`/v1/runs/${await playRun(api, [])}/findings${query}`)
    expect(answer.status).toBe(400)
  })

  it('has after a retry what is found by now, without what was done again', async () => {
    const former = await playRun(api, [
      ...endings.filter(({ name }) => name !== 'three'),
      { name: 'five', leaves: 'read', finds: [{ claim: 'old' }] },
      { name: 'three', fails: { code: 'AGENT_004', reason: 'turn limit' } },
    ])
    await composeRun(api, former, { files: [] })
    const answer = await api.ask(`/v1/runs/${former}/retry`, { method: 'POST' })
    const { run_id: retry } = z.looseObject({ run_id: z.string() }).parse(await answer.json())
    await playOperations(api, retry, [
      { name: 'three', leaves: 'read', finds: [{ claim: 'new' }] },
      { name: 'five', leaves: 'read' },
    ])
    expect(await claimsOf(retry)).toEqual(['first', 'second', 'third', 'new'])
  })

  it('has what an operation found that ran once more, and not what it had found before', async () => {
    const again = { name: 'one', leaves: 'read', finds: [{ claim: 'anew' }] }
    const runId = await playRun(api, endings)
    await playRepeat(api, runId, again)
    expect(await claimsOf(runId)).toEqual(['third', 'anew'])
  })
})
