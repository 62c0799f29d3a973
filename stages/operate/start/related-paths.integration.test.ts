import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CodeNode, Edge } from '#domain/code-node.ts'
import { putEdgeList } from '#store/objects/edge-list.ts'
import { putNodeList } from '#store/objects/node-list.ts'
import { aNewRun, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { anEvent } from '#testing/an-event.ts'
import { openSurroundings } from './start-context.ts'

let ledger: TestLedger
let store: TestObjects
beforeAll(async () => {
  ledger = await testLedger()
  store = await testObjects()
})
afterAll(async () => {
  await ledger.close()
  await store.close()
})

const node = (path: string, name: string): CodeNode => ({ ...aPlannedOperation(`${path} ${name}`).node, path, name })
const target = node('src/target.py', 'target')
const inside = node('src/target.py', 'inside')
const used = node('src/used.py', 'used')
const much = [node('src/much.py', 'one'), node('src/much.py', 'two')] as const
const user = node('src/user.py', 'user')
const calls = (from: CodeNode, to: CodeNode): Edge => ({
  from: from.nodeId,
  to: to.nodeId,
  kind: 'calls',
  certainty: 'exact',
})

/** A run with these nodes and edges stored, as discovery stores them; with neither when there are no edges. */
async function discovered(nodes: readonly CodeNode[], edges: readonly Edge[] | undefined): Promise<string> {
  const run = aNewRun({ projectId: store.project })
  const { runId } = run
  await ledger.ledger.createRun(run)
  const place = { projectId: store.project, runId }
  const nodeListKey = await putNodeList(store.objects, place, { nodes, skipped: [] })
  const lists =
    edges === undefined
      ? { nodeListKey }
      : { nodeListKey, edgeListKey: await putEdgeList(store.objects, place, { nodes, edges }) }
  await ledger.ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'discovery',
    set: { ...lists, nodes: nodes.length },
    events: [anEvent({ event: 'nodes.discovered', phase: 'planning', origin: { kind: 'discovery', id: 'test' } })],
  })
  return runId
}

describe('the files an operation has to do with', () => {
  it('are those its node needs, then those that need it, without its own', async () => {
    const nodes = [target, inside, used, ...much, user]
    const edges = [
      calls(user, target),
      calls(target, used),
      calls(target, inside),
      ...much.map((one) => calls(target, one)),
      calls(user, used),
    ]
    const runId = await discovered(nodes, edges)
    const { relatedPaths } = openSurroundings({ ledger: ledger.ledger, objects: store.objects })
    expect(await relatedPaths({ runId, generation: 1, node: target })).toEqual([
      'src/much.py',
      'src/used.py',
      'src/user.py',
    ])
    expect(await relatedPaths({ runId, generation: 1, node: inside })).toEqual([])
    expect(await relatedPaths({ runId, generation: 1, node: node('src/other.py', 'unknown') })).toEqual([])
  })
})
