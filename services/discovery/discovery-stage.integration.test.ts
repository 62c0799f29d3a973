import { afterEach, beforeEach, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
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
