import { afterEach, beforeEach, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { openEdgeLists } from '#store/objects/edge-list.ts'
import { putNodeSelection } from '#store/objects/node-selection.ts'
import { openNodeLists } from '#store/objects/node-list.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { openStages, type TestStages } from './open-stages.fixture.ts'

let stages: TestStages
let stores: TestStages['stores']
let deps: TestStages['deps']
let signal: TestStages['signal']
let inDiscovery: TestStages['inDiscovery']
beforeEach(async () => {
  stages = await openStages()
  ;({ stores, deps, signal, inDiscovery } = stages)
})
afterEach(() => stages.close())

/** The agent that has work on definitions without a docstring, as those here are. */
const describing = { agents: ['docstring'] }

it('goes on with the nodes it stored, also when it has other query packs by then', async () => {
  const runId = await inDiscovery({ 'a.py': 'def one():\n    pass\n\n\nclass Two:\n    pass\n' }, describing)
  const cutOff = { ...deps.ledger, plan: async () => Promise.reject(new AppError('STORE_001', 'Redis is away')) }
  await expect(runDiscoveryStage(runId, { ...deps, ledger: cutOff }, signal)).rejects.toThrow('Redis is away')
  expect(await stores.ledger.getRun(runId)).toMatchObject({ phase: 'planning', nodes: 3 })

  await runDiscoveryStage(runId, { ...deps, packs: new Map() }, signal)
  const { phase, nodeListKey, projectId } = await stores.ledger.getRun(runId)
  expect(phase).toBe('execution')
  const nodes = await Array.fromAsync(openNodeLists(stores.objects).all({ projectId, runId, hash: nodeListKey ?? '' }))
  const { operations } = await stores.ledger.listOperations(runId, { limit: 10 })
  expect(nodes.map((node) => node.kind)).toEqual(['file', 'function', 'class'])
  expect(operations.length).toBeGreaterThan(0)
  for (const { node } of operations) expect(nodes).toContainEqual(node)
})

it('keeps the nodes of a run that has nothing to do, and what it passed over', async () => {
  const runId = await inDiscovery({ 'notes.md': '# Notes\n', 'dist/out.css': 'a{}', 'node_modules/x.js': '1\n' })
  await runDiscoveryStage(runId, deps, signal)
  const { status, errorCode, nodeListKey, projectId } = await stores.ledger.getRun(runId)
  expect({ status, errorCode }).toEqual({ status: 'failed', errorCode: 'INTAKE_007' })
  const list = await openNodeLists(stores.objects).read({ projectId, runId, hash: nodeListKey ?? '' })
  expect(list.nodes).toBeGreaterThan(0)
  expect(list.skippedFiles).toContainEqual({ path: 'node_modules', reason: expect.any(String) })
})

const twoFiles = { 'a.py': 'def one():\n    pass\n', 'vendor/b.py': 'def two():\n    pass\n' }

it('plans operations on the nodes alone that the request names, and has nothing to do when it names none', async () => {
  const all = await inDiscovery(twoFiles, describing)
  await runDiscoveryStage(all, deps, signal)
  const { operations } = await stores.ledger.listOperations(all, { limit: 10 })
  const one = operations.find(({ node }) => node.name === 'one')?.node.nodeId ?? ''
  const limitedTo = async (nodes: string[]) => {
    const hash = await putNodeSelection(deps.blobs, stores.project, nodes)
    const runId = await inDiscovery(twoFiles, { ...describing, nodes: { hash, count: nodes.length } })
    await runDiscoveryStage(runId, deps, signal)
    return runId
  }
  const some = await stores.ledger.listOperations(await limitedTo([one]), { limit: 10 })
  expect(new Set(some.operations.map(({ node }) => node.name))).toEqual(new Set(['one']))
  expect(await stores.ledger.getRun(await limitedTo([]))).toMatchObject({ status: 'running', phase: 'review' })
})

it('counts the nodes of every kind, also of those that are called as what every object has', async () => {
  const runId = await inDiscovery({ 'A.java': 'class A {\n  A() {}\n  A(int n) {}\n}\n', 'b.py': 'def f(): pass\n' })
  await runDiscoveryStage(runId, deps, signal)
  const events = await stores.ledger.readEvents(runId, { after: 0, limit: 100 })
  const found = events.find(({ event }) => event === 'nodes.discovered')
  expect(found?.data).toMatchObject({ kinds: { file: 2, class: 1, constructor: 2, function: 1 } })
})

it('stores the edges of Python, TypeScript and Go, each with the node at either end', async () => {
  const runId = await inDiscovery({
    'money.py': 'def rounded(n):\n    return n\n',
    'test_money.py': 'from money import rounded\n\n\ndef test_rounded():\n    rounded(1)\n',
    'web/a.ts': "import { f } from './b.ts'\nexport function g() { return f() }\n",
    'web/b.ts': 'export function f() {}\n',
    'go.mod': 'module example.com/m\n',
    'srv/a.go': 'package srv\n\nfunc A() { B() }\n',
    'srv/b.go': 'package srv\n\nfunc B() {}\n',
  })
  await runDiscoveryStage(runId, deps, signal)
  const run = await stores.ledger.getRun(runId)
  const { projectId } = run
  const nodeList = { projectId, runId, hash: run.nodeListKey ?? '' }
  const edgeList = { projectId, runId, hash: run.edgeListKey ?? '' }
  const nodes = await Array.fromAsync(openNodeLists(stores.objects).all(nodeList))
  const found: string[] = []
  for (const [place, { path, name }] of nodes.entries()) {
    const { edges } = await openEdgeLists(stores.objects).scan(edgeList, place, { from: 0, limit: 100 })
    for (const { direction, kind, certainty, node } of edges)
      found.push(`${path} ${name} ${direction} ${kind} ${certainty} ${node.path} ${node.qualifiedName}`)
  }
  expect(found).toEqual([
    'money.py rounded in imports exact test_money.py test_money.py',
    'money.py rounded in calls exact test_money.py test_rounded',
    'money.py rounded in tests exact test_money.py test_rounded',
    'srv/a.go A out calls exact srv/b.go B',
    'srv/b.go B in calls exact srv/a.go A',
    'test_money.py test_money.py out imports exact money.py rounded',
    'test_money.py test_rounded out calls exact money.py rounded',
    'test_money.py test_rounded out tests exact money.py rounded',
    'web/a.ts a.ts out imports exact web/b.ts f',
    'web/a.ts g out calls exact web/b.ts f',
    'web/b.ts f in imports exact web/a.ts web/a.ts',
    'web/b.ts f in calls exact web/a.ts g',
  ])
})
