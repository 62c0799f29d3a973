import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { aNode, aRun, anOperation } from '../answers.fixture.ts'
import type { ApiClient } from '../api-client.ts'
import { findOperation, findOperations } from './find-operation.ts'

const runId = 'r0123456789'
const nodeId = 'n0123456789abcdef'
const wholePage = { next: null, complete: true }

/** A run of lint and docstring with one node, `src/shop.py total`, on which `agents` worked. */
function runWith(...agents: string[]): Pick<ApiClient, 'getRun' | 'getNode' | 'listNodes' | 'listOperations'> {
  const request = { agents: ['lint', 'docstring'] }
  const place = { kind: 'function', qualified_name: 'total', path: 'src/shop.py', language: 'python' }
  const lines = { start_line: 1, end_line: 2, start_byte: 0, end_byte: 9, parent_id: null }
  const operations = agents.map((agent) => ({
    operation_id: `o-of-${agent}`,
    agent,
    status: 'succeeded',
    superseded_by: null,
  }))
  const node = { node_id: nodeId, name: 'total', hash: 'a'.repeat(64), ...place, ...lines }
  const state = { status: 'completed', phase: 'review', seq: 1, counts: {} }
  return {
    getRun: async () => aRun({ run_id: runId, request, ...state }),
    listOperations: async () => ({ operations: [], next: null }),
    getNode: async () => aNode({ ...node, operations }),
    listNodes: async (_runId, { path }) => ({
      ...wholePage,
      nodes: path === 'src/shop.py' ? [aNode({ ...node, operations })] : [],
    }),
  }
}

it('names the operations when several agents worked on the node', async () => {
  const both = runWith('lint', 'docstring')
  await expect(findOperation(both, runId, ['src/shop.py total'])).rejects.toThrow(
    'Several agents worked on "src/shop.py total": name one of lint (o-of-lint), docstring (o-of-docstring), or its id',
  )
  expect(await findOperation(both, runId, ['docstring', 'src/shop.py', 'total'])).toBe('o-of-docstring')
})

it('says who worked on the node when the agent that is named did not', async () => {
  await expect(findOperation(runWith('lint'), runId, ['docstring', 'src/shop.py', 'total'])).rejects.toThrow(
    `In run ${runId} docstring did not work on "src/shop.py total" (lint (o-of-lint) did)`,
  )
  await expect(findOperation(runWith(), runId, ['src/shop.py', 'total'])).rejects.toThrow(
    `In run ${runId} no agent worked on "src/shop.py total"`,
  )
})

/** A run of lint and docstring in which the file `src/shop.py` has no operation of its own, and these functions have one. */
function runInside(...functions: string[]): ReturnType<typeof runWith> {
  const file = { kind: 'file', qualified_name: 'shop.py', path: 'src/shop.py', language: 'python' }
  const lines = { start_line: 1, end_line: 2, start_byte: 0, end_byte: 9, parent_id: null }
  const node = aNode({
    node_id: nodeId,
    name: 'shop.py',
    hash: 'a'.repeat(64),
    ...file,
    ...lines,
    operations: [],
  })
  const within = functions.map((name) =>
    anOperation({
      operation_id: `o-of-${name}`,
      agent: 'lint',
      status: 'succeeded',
      node: { ...file, kind: 'function', qualified_name: name },
      outcome: null,
    }),
  )
  return {
    ...runWith(),
    getNode: async () => node,
    listNodes: async (_runId, { path }) => ({ ...wholePage, nodes: path === 'src/shop.py' ? [node] : [] }),
    listOperations: async () => ({ operations: within, next: null }),
  }
}

it('names those in the file where one is wanted and there are several', async () => {
  await expect(findOperation(runInside('f', 'g'), runId, ['src/shop.py'])).rejects.toThrow(
    'Several operations are in "src/shop.py": name one of lint src/shop.py f (o-of-f), lint src/shop.py g (o-of-g)',
  )
  await expect(findOperation(runInside('f', 'g'), runId, ['docstring', 'src/shop.py'])).rejects.toThrow(
    `In run ${runId} docstring did not work on "src/shop.py"`,
  )
})

/** Two files with an operation on one function each; in the first one there is also a node with the name of the second. */
function runOfFiles(...paths: string[]): ReturnType<typeof runWith> {
  const all = paths.map((path, at) => {
    const node = {
      kind: 'function',
      qualified_name: 'f',
      path,
      language: 'python',
      name: 'f',
      node_id: `n${String(at).padStart(16, '0')}`,
    }
    const lines = { start_line: 1, end_line: 2, start_byte: 0, end_byte: 9, parent_id: null }
    return aNode({ ...node, ...lines, hash: 'a'.repeat(64), operations: [] })
  })
  const operations = all.map((node) =>
    anOperation({ operation_id: `o-in-${node.path}`, agent: 'lint', status: 'succeeded', node, outcome: null }),
  )
  return {
    ...runWith(),
    listNodes: async (_runId, { path = '' }) => ({
      ...wholePage,
      nodes: all.filter((node) => matchesGlob(node.path, path)),
    }),
    getNode: async (_runId, id) => all.find((node) => node.node_id === id) ?? Promise.reject(new Error(id)),
    listOperations: async () => ({ operations, next: null }),
  }
}

it('points from a folder to the condition that takes all in it', async () => {
  const client = runOfFiles('src/shop/a.py')
  for (const folder of ['src/shop', 'src/shop/', 'src']) {
    await expect(findOperations(client, runId, [folder])).rejects.toThrow(
      `it is a folder, of which accept, reject and undo take all changes with --where path='${folder.replace(/\/$/, '')}/**'`,
    )
  }
  await expect(findOperations(client, runId, ['src/sho'])).rejects.not.toThrow('folder')
})

it('refuses words that are several files and one place', async () => {
  const client = runOfFiles('a.py', 'b.py', 'a.py b.py')
  await expect(findOperations(client, runId, ['a.py', 'b.py'])).rejects.toThrow(
    '"a.py b.py" may be all of 2 files or operations, or one place',
  )
  const agentsName = runOfFiles('lint', 'a.py')
  await expect(findOperations(agentsName, runId, ['lint', 'a.py'])).rejects.toThrow('o-in-a.py')
})
