import { describe, expect, it } from 'vitest'
import { planOperations } from './plan-operations.ts'
import { aBundle, nodesOf, type Source } from './planning.fixture.ts'
import { summarisePlan } from './summarise-plan.ts'

const nodes = [
  ...nodesOf('a.py', ['file', 'a.py', ['function', 'f'], ['function', 'g']]),
  ...nodesOf('src/b.py', ['file', 'b.py', ...Array.from({ length: 8 }, (_none, at): Source => ['function', `h${at}`])]),
  ...nodesOf('web/c.ts', ['function', 'k'], 'typescript'),
]
const tools = ['read', 'write'].map((name) => ({ name, description: 'd', parameters: {} }))
const bundles = [aBundle('lint', ['file', 'function']), aBundle('docstring', ['function'])].map((pinned) => ({
  ...pinned,
  bundle: { ...pinned.bundle, tools },
}))

/** Lint has mechanical work on files and none on the functions of src; docstring has work on what is in the top folder. */
const work = {
  of: ({ bundle }: (typeof bundles)[number]) => {
    return ({ kind, path }: (typeof nodes)[number]) => {
      const isTop = !path.includes('/')
      if (bundle.file.name === 'docstring')
        return isTop ? { works: ['agent' as const] } : { works: [], reason: 'has a docstring' }
      if (kind === 'file') return { works: ['mechanical' as const] }
      return isTop ? { works: ['agent' as const] } : { works: [], reason: 'no lint fault' }
    }
  },
}

function summary(over: Partial<Parameters<typeof summarisePlan>[0]> = {}) {
  const planned = planOperations(nodes, bundles, { work })
  return summarisePlan({ nodes, bundles, planned, skipped: [], notices: [], ...over })
}

describe('the plan for people', () => {
  it('says what an agent takes where nothing is there for it', () => {
    const go = nodesOf('flag.go', ['file', 'flag.go', ['function', 'Parse']], 'go')
    const files = nodesOf('a.py', ['file', 'a.py'])
    expect(summary({ nodes: go }).notices).toContain('lint takes Python: there is nothing of that here')
    expect(summary({ nodes: files }).notices).toEqual([
      'docstring takes function nodes in Python: there is nothing of that here',
    ])
    expect(summary({ nodes: [], unchanged: nodes }).notices).toEqual([])
  })

  it('counts the nodes of a retry whose operations are not among those to retry', () => {
    const [first] = planOperations(nodes, bundles, { work }).operations
    const planned = planOperations(nodes, bundles, { work, only: new Set([first?.operationId ?? '']) })
    expect(planned.leftOut.filter(({ reason }) => reason === 'not among the operations to retry')).toHaveLength(5)
  })

  it('counts rare reasons together, so that the nodes with an operation and those without are all it looked at', () => {
    const many = Array.from({ length: 10 }, () => nodes).flat()
    const leftOut = many.map((node, at) => ({ bundle: 'lint', node, reason: `because of ${at}` }))
    const planned = { operations: [], leftOut, beyondLimit: 0 }
    const skipped = summary({ planned }).agents['lint']?.skipped ?? []
    expect(skipped).toHaveLength(50)
    expect(skipped.at(-1)).toMatchObject({ reason: 'other reasons', count: 81 })
  })

  it('names the commonest reason first, and files by their path alone', () => {
    const without = nodes.map((node, at) => ({
      bundle: 'lint',
      node,
      reason: at === 0 ? 'it is a stub' : 'no lint fault',
    }))
    const { agents } = summary({ planned: { operations: [], leftOut: without, beyondLimit: 0 } })
    expect(agents['lint']?.skipped.map(({ reason, count }) => `${count} ${reason}`)).toEqual([
      '12 no lint fault',
      '1 it is a stub',
    ])
    expect(agents['lint']?.skipped[1]?.examples).toEqual(['a.py'])
  })

  it('says what is planned in each folder, and estimates tokens for what is asked of a model alone', () => {
    const { agents } = summary()
    expect(agents['lint']?.folders).toMatchObject([
      { path: '.', planned: 3, estimatedTokens: agents['lint']?.estimatedTokens },
      { path: 'src', planned: 1, estimatedTokens: 0 },
    ])
    expect(agents['lint']?.estimatedTokens).toBeGreaterThan(0)
  })

  it('says each notice once, and has the agents without work as well', () => {
    const planned = { operations: [], leftOut: [], beyondLimit: 0 }
    const { agents, notices } = summary({ planned, notices: ['one', 'two', 'one'] })
    expect(notices).toEqual(['one', 'two'])
    expect(agents['lint']).toMatchObject({ lookedAt: 12, planned: 0, estimatedTokens: 0, skipped: [], folders: [] })
  })

  it('keeps the first thousand of the files that discovery passed over', () => {
    const skipped = Array.from({ length: 1_200 }, (_none, at) => ({ path: `v/${at}.py`, reason: 'vendored' }))
    expect(summary({ skipped }).skippedFiles).toEqual(skipped.slice(0, 1_000))
  })
})
