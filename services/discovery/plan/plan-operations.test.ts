import { describe, expect, it } from 'vitest'
import { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { planOperations, type PinnedBundle } from './plan-operations.ts'

function node(path: string, kind: string, name: string, language = 'python'): CodeNode {
  const id = nodeId({ path, kind, qualifiedName: name, ordinal: 0 })
  const place = { startLine: 1, endLine: 1, startByte: 0, endByte: 1, parentId: null, hash: '' }
  return { nodeId: id, kind, name, qualifiedName: name, path, language, ...place }
}

function bundle(name: string, kinds: string[], after: string[] = []): PinnedBundle {
  const file = BundleFile.parse({
    name,
    description: 'd',
    node_kinds: kinds,
    languages: ['python'],
    after,
    initial_context: { system_prompt: 's', node_context: 'n' },
    tools: [{ builtin: 'submit_result' }],
  })
  return { hash: `hash of ${name}`, bundle: AgentBundle.parse({ file, tools: [], scripts: {}, hostInputs: {} }) }
}

const nodes = [
  node('a.py', 'file', 'a.py'),
  node('a.py', 'function', 'f'),
  node('b/c.py', 'function', 'g'),
  node('x.go', 'function', 'h', 'go'),
]

describe('planning operations', () => {
  it('takes every bundle on every node of its kinds and languages', () => {
    const plan = planOperations(nodes, [bundle('lint', ['file', 'function']), bundle('docstring', ['function'])])
    expect(plan.map((one) => `${one.bundle} ${one.node.name}`)).toEqual([
      'lint a.py',
      'lint f',
      'docstring f',
      'lint g',
      'docstring g',
    ])
    expect(new Set(plan.map((one) => one.operationId)).size).toBe(5)
  })

  it('puts a bundle after those it waits for on the same node, whatever order they are named in', () => {
    const plan = planOperations(nodes, [bundle('test', ['function'], ['docstring']), bundle('docstring', ['function'])])
    expect(plan.map((one) => one.bundle)).toEqual(['docstring', 'test', 'docstring', 'test'])
    expect(plan[1]?.after).toEqual([plan[0]?.operationId])
  })

  it('does not wait for a bundle that does not take the node', () => {
    const plan = planOperations(nodes, [bundle('lint', ['file'], ['docstring']), bundle('docstring', ['function'])])
    expect(plan[0]).toMatchObject({ bundle: 'lint', after: [] })
  })

  it('refuses bundles that wait for each other', () => {
    const circle = [bundle('a', ['file'], ['b']), bundle('b', ['file'], ['a'])]
    expect(() => planOperations(nodes, circle)).toThrow(expect.objectContaining({ code: 'AGENT_001' }))
  })

  it('keeps to the number asked for', () => {
    expect(planOperations(nodes, [bundle('lint', ['file', 'function'])], 2)).toHaveLength(2)
  })
})
