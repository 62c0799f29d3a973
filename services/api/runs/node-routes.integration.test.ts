import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { nodeView } from '#domain/node-view.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../app.fixture.ts'
import { plannedOperation, playRun, storeNodes, submitRun } from '../played-run.fixture.ts'
import { NodePage } from './node-schema.ts'

let api: TestApi
let runId: string
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  runId = await submitRun(api)
  await storeNodes(api, runId, nodes, { skipped, pageNodes: 2 })
})
afterAll(() => api.close())

const skipped = [{ path: 'logo.png', reason: 'binary' }]
const nodes = ['one', 'two', 'three', 'four', 'five'].map((name) => plannedOperation(name).node)

async function page(query = '', run = runId): Promise<NodePage> {
  const answer = await api.ask(`/v1/runs/${run}/nodes?${query}`)
  expect(answer.status).toBe(200)
  return NodePage.parse(await answer.json())
}

async function refused(path: string) {
  const answer = await api.ask(`/v1/runs/${path}`)
  return { status: answer.status, ...z.object({ error_code: z.string() }).parse(await answer.json()) }
}

describe('GET /v1/runs/{run_id}/nodes', () => {
  it('gives them page by page, and on the first what was passed over', async () => {
    const first = await page('limit=3')
    expect(first).toEqual({
      nodes: nodes.slice(0, 3).map(nodeView),
      next: '3',
      complete: true,
      skipped: { count: 1, files: skipped },
    })
    const second = await page(`limit=3&cursor=${first.next}`)
    expect(second).toEqual({ nodes: nodes.slice(3).map(nodeView), next: null, complete: true })
  })

  it('gives those of a kind, a language, a path', async () => {
    expect((await page('kind=function&language=python&path=a.py')).nodes).toHaveLength(5)
    expect((await page('kind=class')).nodes).toEqual([])
    expect((await page('language=go')).nodes).toEqual([])
    expect((await page('path=src/**')).nodes).toEqual([])
  })

  it('has none, and is not complete, before discovery is done', async () => {
    expect(await page('', await submitRun(api))).toEqual({ nodes: [], next: null, complete: false })
  })

  it('tells that those of a run that an earlier version discovered were not stored', async () => {
    const older = await submitRun(api)
    await api.ledger.move(older, {
      from: [{ status: 'queued' }],
      to: {},
      command: 'older',
      set: { nodes: 5 },
      events: [],
    })
    expect(await refused(`${older}/nodes`)).toEqual({ status: 404, error_code: 'RUN_004' })
    expect(await refused(`${older}/nodes/${nodes[0]?.nodeId}`)).toEqual({ status: 404, error_code: 'RUN_004' })
  })

  it.for(['cursor=-1', 'cursor=x', 'limit=0', 'limit=1001', 'kind=Class', 'language=klingon', 'path=../x', 'name=f'])(
    'refuses %s',
    async (query) => {
      expect(await refused(`${runId}/nodes?${query}`)).toEqual({ status: 400, error_code: 'RUN_002' })
    },
  )

  it('has an empty last page behind the end', async () => {
    expect(await page('cursor=999999999')).toEqual({ nodes: [], next: null, complete: true })
  })

  it('hides another project’s', async () => {
    for (const view of ['nodes', `nodes/${nodes[0]?.nodeId}`]) {
      const answer = await api.askAs('other', `/v1/runs/${runId}/${view}`)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ error_code: 'RUN_001' })
    }
  })
})

describe('GET /v1/runs/{run_id}/nodes/{node_id}', () => {
  it('gives a node with the operations on it', async () => {
    const played = await playRun(api, [{ name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit' } }])
    const { node, operationId } = plannedOperation('two')
    const answer = await api.ask(`/v1/runs/${played}/nodes/${node.nodeId}`)
    expect(await answer.json()).toEqual({
      ...nodeView(node),
      children: [],
      operations: [{ operation_id: operationId, agent: 'lint', status: 'failed' }],
    })
  })

  it('gives one without operations before there is a plan', async () => {
    const answer = await api.ask(`/v1/runs/${runId}/nodes/${nodes[4]?.nodeId}`)
    expect(await answer.json()).toMatchObject({ qualified_name: 'five', operations: [] })
  })

  it.for(['n0000000000000000', 'nonsense'])('knows no node %s', async (id) => {
    expect(await refused(`${runId}/nodes/${id}`)).toEqual({ status: 404, error_code: 'RUN_004' })
  })
})
