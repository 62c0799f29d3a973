import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Edge, nodeView } from '#domain/code-node.ts'
import { EdgePage, NodePage } from '#schemas/node-schema.ts'
import { plannedOperation, playRun, storeNodes, submitRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

let runId: string
const api = useTestApi()
beforeAll(async () => {
  runId = await submitRun(api)
  await storeNodes(api, runId, nodes, { edges, skipped, pageNodes: 2 })
})

const skipped = [{ path: 'logo.png', reason: 'binary' }]
const nodes = ['one', 'two', 'three', 'four', 'five'].map((name) => plannedOperation(name).node)

const [one, two, three, four] = nodes.map(({ nodeId }) => nodeId)
const edges = [
  { from: one ?? '', to: two ?? '', kind: 'calls', certainty: 'exact' },
  { from: three ?? '', to: two ?? '', kind: 'tests', certainty: 'by_name' },
] satisfies Edge[]

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

  it.for(['cursor=-1', 'cursor=x', 'limit=0', 'limit=1001', 'kind=Class', 'language=klingon', 'path=../x', 'name=f'])(
    'refuses %s',
    async (query) => {
      expect(await refused(`${runId}/nodes?${query}`)).toEqual({ status: 400, error_code: 'RUN_002' })
    },
  )

  it('has an empty last page behind the end', async () => {
    expect(await page('cursor=999999999')).toEqual({ nodes: [], next: null, complete: true })
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
      edges: { out: 0, in: 0 },
      operations: [{ operation_id: operationId, agent: 'lint', status: 'failed', superseded_by: null }],
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

describe('GET /v1/runs/{run_id}/nodes/{node_id}/edges', () => {
  async function edgesOf(nodeId = '', query = ''): Promise<EdgePage> {
    const answer = await api.ask(`/v1/runs/${runId}/nodes/${nodeId}/edges?${query}`)
    expect(answer.status).toBe(200)
    return EdgePage.parse(await answer.json())
  }
  const told = ({ edges: found }: EdgePage) =>
    found.map(({ direction, kind, certainty, node }) => `${direction} ${kind} ${certainty} ${node.qualified_name}`)

  it('gives both directions, with what it takes to find the other node', async () => {
    expect(await edgesOf(one)).toEqual({
      edges: [
        {
          direction: 'out',
          kind: 'calls',
          certainty: 'exact',
          node: {
            node_id: two,
            kind: 'function',
            qualified_name: 'two',
            path: 'a.py',
            start_line: 1,
            end_line: 1,
          },
        },
      ],
      next: null,
    })
    expect(told(await edgesOf(two))).toEqual(['in calls exact one', 'in tests by_name three'])
    expect(told(await edgesOf(four))).toEqual([])
  })

  it('gives those of a direction, of a kind, a page at a time', async () => {
    expect(told(await edgesOf(two, 'direction=out'))).toEqual([])
    expect(told(await edgesOf(two, 'direction=in&kind=tests'))).toEqual(['in tests by_name three'])
    const first = await edgesOf(two, 'limit=1')
    expect(told(first)).toEqual(['in calls exact one'])
    const second = await edgesOf(two, `limit=1&cursor=${first.next}`)
    expect({ told: told(second), next: second.next }).toEqual({ told: ['in tests by_name three'], next: null })
  })

  it.for(['direction=up', 'kind=likes', 'limit=0', 'cursor=x'])('refuses %s', async (query) => {
    expect(await refused(`${runId}/nodes/${two}/edges?${query}`)).toEqual({ status: 400, error_code: 'RUN_002' })
  })

  it('knows no edges of an unknown node, nor of another project', async () => {
    expect(await refused(`${runId}/nodes/n0000000000000000/edges`)).toEqual({ status: 404, error_code: 'RUN_004' })
    const answer = await api.askAs('other', `/v1/runs/${runId}/nodes/${two}/edges`)
    expect(await answer.json()).toMatchObject({ status: 404, error_code: 'RUN_001' })
  })
})
