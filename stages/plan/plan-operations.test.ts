import { describe, expect, it } from 'vitest'
import { planOperations } from './plan-operations.ts'
import type { OperationStatus, PlannedOperation } from '#domain/operation.ts'
import { aBundle, nodesOf } from './planning.fixture.ts'

const nodes = [
  ...nodesOf('a.py', ['file', 'a.py', ['function', 'f']]),
  ...nodesOf('b/c.py', ['function', 'g']),
  ...nodesOf('x.go', ['function', 'h'], 'go'),
]

describe('planning operations', () => {
  it('takes every bundle on every node of its kinds and languages', () => {
    const plan = planOperations(nodes, [
      aBundle('lint', ['file', 'function']),
      aBundle('docstring', ['function']),
    ]).operations
    expect(plan.map((one) => `${one.bundle} ${one.node.name}`)).toEqual([
      'lint a.py',
      'lint f',
      'docstring f',
      'lint g',
      'docstring g',
    ])
    expect(new Set(plan.map((one) => one.operationId)).size).toBe(5)
  })

  it('refuses bundles that wait for each other, and names the circle', () => {
    const circle = [
      aBundle('first', ['file'], { after: ['a'] }),
      aBundle('a', ['file'], { after: ['b'] }),
      aBundle('b', ['file'], { after: ['c'] }),
      aBundle('c', ['file'], { after: ['a'] }),
    ]
    expect(() => planOperations(nodes, circle)).toThrow(
      expect.objectContaining({ code: 'AGENT_001', message: expect.stringContaining('a after b after c after a') }),
    )
  })

  it('plans only what it is asked for, without waiting for what is left out', () => {
    const bundles = [aBundle('lint', ['file', 'function'], { containment: 'inner_first' })]
    const whole = planOperations(nodes, bundles).operations
    const [, second] = whole
    if (second === undefined) throw new Error('there is no second operation')
    expect(second.after).toHaveLength(1)
    expect(planOperations(nodes, bundles, { only: new Set([second.operationId]) }).operations).toEqual([
      { ...second, after: [], startsFrom: second.after },
    ])
  })

  it('plans, with what failed, what was skipped for its sake alone', () => {
    const file = nodesOf('a.py', ['file', 'a.py', ['function', 'f'], ['function', 'g']])
    const lint = aBundle('lint', ['file', 'function'], { containment: 'inner_first' })
    const bundles = [lint, aBundle('test', ['function'], { after: ['lint'] })]
    const ids = new Map(planOperations(file, bundles).operations.map((one) => [nameOf(one), one.operationId]))
    const retried = (name: string, ends: Readonly<Record<string, OperationStatus>>) => {
      const unwell = new Map(Object.entries(ends).map(([one, status]) => [ids.get(one) ?? '', { status }]))
      const planned = planOperations(file, bundles, { only: new Set([ids.get(name) ?? '']), unwell })
      return planned.operations.map((one) => `${nameOf(one)} after ${one.after.length}`)
    }
    const ends = { 'lint f': 'failed', 'test f': 'skipped', 'lint a.py': 'skipped' } as const
    expect(retried('lint f', ends)).toEqual(['lint f after 0', 'lint a.py after 1', 'test f after 2'])
    const others = { 'lint g': 'failed', 'test g': 'skipped' } as const
    // The file waits for g, and the test of f for the file around it.
    expect(retried('lint f', { ...ends, ...others })).toEqual(['lint f after 0'])
  })
})

function nameOf({ bundle, node }: PlannedOperation): string {
  return `${bundle} ${node.name}`
}
