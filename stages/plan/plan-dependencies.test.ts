import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { planOperations } from './plan-operations.ts'
import { aBundle, nodesOf, type Source } from './planning.fixture.ts'

const nested: Source = [
  'file',
  'a.py',
  ['class', 'Outer', ['method', 'first', ['function', 'inner']], ['method', 'second']],
  ['function', 'last'],
]

/** The plan as `bundle node < what it waits for`, in order. */
function planned(nodes: readonly CodeNode[], bundles: readonly PinnedBundle[]): string[] {
  const plan = planOperations(nodes, bundles).operations
  const named = new Map(plan.map(({ operationId, bundle, node }) => [operationId, `${bundle} ${node.name}`]))
  return plan.map(({ operationId, after }) =>
    [named.get(operationId), ...after.map((id) => `< ${named.get(id)}`)].join(' '),
  )
}

describe('containment', () => {
  it('inner_first waits for the nodes directly inside', () => {
    const bundle = aBundle('doc', ['file', 'class', 'method', 'function'], { containment: 'inner_first' })
    expect(planned(nodesOf('a.py', nested), [bundle])).toEqual([
      'doc inner',
      'doc first < doc inner',
      'doc second',
      'doc Outer < doc first < doc second',
      'doc last',
      'doc a.py < doc Outer < doc last',
    ])
  })

  it('goes to the next level where the bundle does not take the direct one', () => {
    const inner = aBundle('doc', ['class', 'function'], { containment: 'inner_first' })
    expect(planned(nodesOf('a.py', nested), [inner])).toEqual(['doc inner', 'doc Outer < doc inner', 'doc last'])
  })

  it('of after and after_optional reaches the node itself and all nodes around it, and the second only orders', () => {
    const nodes = nodesOf('a.py', nested)
    const bundles = [
      aBundle('doc', ['method', 'function'], { after: ['fix'], after_optional: ['lint'] }),
      aBundle('fix', ['class', 'method']),
      aBundle('lint', ['file', 'function']),
    ]
    const plan = planOperations(nodes, bundles).operations
    const named = new Map(plan.map(({ operationId, bundle, node }) => [operationId, `${bundle} ${node.name}`]))
    const namesOf = (ids: readonly string[] = []) => ids.map((id) => named.get(id))
    const docs = plan.filter(({ bundle }) => bundle === 'doc')
    expect(docs.map(({ node, after, afterAny }) => [node.name, namesOf(after), namesOf(afterAny)])).toEqual([
      ['first', ['fix Outer', 'fix first'], ['lint a.py']],
      ['inner', ['fix Outer', 'fix first'], ['lint a.py', 'lint inner']],
      ['second', ['fix Outer', 'fix second'], ['lint a.py']],
      ['last', [], ['lint a.py', 'lint last']],
    ])
  })

  it('goes together with after, each bundle in its own direction', () => {
    const nodes = nodesOf('a.py', ['class', 'C', ['method', 'm']])
    const bundles = [
      aBundle('test', ['class', 'method'], { after: ['doc'], containment: 'outer_first' }),
      aBundle('doc', ['class', 'method'], { containment: 'inner_first' }),
    ]
    expect(planned(nodes, bundles)).toEqual([
      'doc m',
      'doc C < doc m',
      'test C < doc C',
      'test m < doc C < doc m < test C',
    ])
  })

  it('plans source that is nested deeper than calls may be', () => {
    const depth = 20_000
    const nodes = nodesOf('a.py', ['file', 'a.py']).flatMap((file) =>
      Array.from({ length: depth }, (_, at) => ({
        ...file,
        nodeId: `n${String(at).padStart(16, '0')}`,
        startByte: at,
        endByte: 3 * depth - at,
      })),
    )
    const plan = planOperations(nodes, [aBundle('doc', ['file'], { containment: 'inner_first' })]).operations
    expect(plan.map(({ node }) => node.startByte).slice(0, 2)).toEqual([depth - 1, depth - 2])
  })
})

function sourceOf(depth: number): fc.Arbitrary<Source> {
  const inside = depth === 0 ? fc.constant([]) : fc.array(sourceOf(depth - 1), { maxLength: 3 })
  return fc
    .tuple(fc.constantFrom('file', 'class', 'method', 'function'), inside)
    .map(([kind, sources]): Source => [kind, 'x', ...sources])
}

const files = fc
  .array(sourceOf(4), { minLength: 1, maxLength: 3 })
  .map((sources) => sources.flatMap((one, at) => nodesOf(`${at}.py`, one)))
const kinds = fc.subarray(['file', 'class', 'method', 'function'], { minLength: 1 })
/** Each bundle waits for some of those before it; they are named in any order. */
const bundleSets = fc
  .array(fc.tuple(kinds, fc.constantFrom('none', 'inner_first', 'outer_first'), fc.array(fc.nat({ max: 3 }))), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((bundles) => {
    const named = bundles.map(([taken, containment, after], at) =>
      aBundle(`b${at}`, taken, { containment, after: after.filter((other) => other < at).map((other) => `b${other}`) }),
    )
    return fc.shuffledSubarray(named, { minLength: 1 })
  })

describe('any plan', () => {
  it('has each operation wait only for earlier ones of the plan, once each, whatever the limit', () => {
    fc.assert(
      fc.property(files, bundleSets, fc.nat({ max: 40 }), (nodes, bundles, limit) => {
        const whole = planOperations(nodes, bundles).operations
        const plan = planOperations(nodes, bundles, { limit }).operations
        expect(plan).toEqual(whole.slice(0, limit))
        const before = new Set<string>()
        for (const { operationId, after } of plan) {
          expect(after.filter((id) => !before.has(id))).toEqual([])
          expect(new Set(after).size).toBe(after.length)
          before.add(operationId)
        }
        expect(before.size).toBe(plan.length)
        const taken = bundles.map(({ bundle }) => nodes.filter(({ kind }) => bundle.file.node_kinds.includes(kind)))
        expect(whole.length).toBe(taken.flat().length)
      }),
    )
  })

  it('follows the nearest parent that the bundle takes', () => {
    fc.assert(
      fc.property(files, kinds, (nodes, taken) => {
        const parents = new Map(nodes.map(({ nodeId, parentId }) => [nodeId, parentId]))
        const plan = planOperations(nodes, [aBundle('doc', taken, { containment: 'outer_first' })]).operations
        const operationOf = new Map(plan.map(({ operationId, node }) => [node.nodeId, operationId]))
        const nearest = (id: string | null | undefined): string[] =>
          id === null || id === undefined ? [] : [operationOf.get(id) ?? nearest(parents.get(id))].flat()
        expect(plan.map(({ after }) => after)).toEqual(plan.map(({ node }) => nearest(node.parentId)))
      }),
    )
  })
})
