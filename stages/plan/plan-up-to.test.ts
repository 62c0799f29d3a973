import { describe, expect, it } from 'vitest'
import { nodesOf, type Source } from './planning.fixture.ts'
import { planUpTo } from './plan-up-to.ts'

const functions = Array.from({ length: 999 }, (_, at): Source => ['function', `f${at}`])
const fileOf = (path: string) => nodesOf(path, ['file', path, ...functions])
const nodes = Array.from({ length: 40 }, (_, at) => fileOf(`m${String(at).padStart(2, '0')}.py`)).flat()

/** One operation for each file that is looked at; `looks` counts these, each time. */
async function planned(limit: number | undefined) {
  const looks: number[] = []
  const plan = await planUpTo(limit, nodes, async ({ paths, has, notices }) => {
    looks.push(paths.size)
    const files = nodes.filter((node) => node.kind === 'file' && has(node))
    return { planned: { operations: files.slice(0, limit) }, notices }
  })
  return { looks, ...plan }
}

describe('a plan with a limit', () => {
  it('looks at no more files than it takes to reach the limit, and names the first that it leaves', async () => {
    const { looks, notices } = await planned(5)
    expect(looks).toEqual([2, 8])
    expect(notices).toEqual(['the limit is reached before m08.py: from there on 32 files are not looked at'])
  })

  it('looks at all where there is less work than the limit, or no limit', async () => {
    expect(await planned(50)).toMatchObject({ looks: [2, 8, 32, 40], notices: [] })
    expect(await planned(undefined)).toMatchObject({ looks: [40], notices: [] })
  })
})
