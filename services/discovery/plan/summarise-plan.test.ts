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
  it('counts per agent what was looked at, what is planned with a model and what without', () => {
    const { agents } = summary()
    expect(agents['lint']).toMatchObject({ lookedAt: 12, planned: 2, mechanical: 2 })
    expect(agents['docstring']).toMatchObject({ lookedAt: 10, planned: 2, mechanical: 0 })
  })

  it('counts the nodes without work by reason, with examples a person finds', () => {
    const { agents } = summary()
    expect(agents['lint']?.skipped).toEqual([
      {
        reason: 'no lint fault',
        count: 8,
        examples: [0, 1, 2, 3, 4].map((at) => `src/b.py:1 b.py.h${at}`),
      },
    ])
  })

  it('names the commonest reason first, and files by their path alone', () => {
    const without = nodes.map((node, at) => ({
      bundle: 'lint',
      node,
      reason: at === 0 ? 'it is a stub' : 'no lint fault',
    }))
    const { agents } = summary({ planned: { operations: [], withoutWork: without } })
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
    const planned = { operations: [], withoutWork: [] }
    const { agents, notices } = summary({ planned, notices: ['one', 'two', 'one'] })
    expect(notices).toEqual(['one', 'two'])
    expect(agents['lint']).toMatchObject({ lookedAt: 12, planned: 0, estimatedTokens: 0, skipped: [], folders: [] })
  })

  it('keeps the first thousand of the files that discovery passed over', () => {
    const skipped = Array.from({ length: 1_200 }, (_none, at) => ({ path: `v/${at}.py`, reason: 'vendored' }))
    expect(summary({ skipped }).skippedFiles).toEqual(skipped.slice(0, 1_000))
  })
})
