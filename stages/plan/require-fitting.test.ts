import { describe, expect, it } from 'vitest'
import { requireFitting } from './require-fitting.ts'
import { aBundle, nodesOf } from './planning.fixture.ts'

const lint = aBundle('lint', ['function', 'method'])
const go = ['a.go', 'b.go'].flatMap((path) => nodesOf(path, ['file', path, ['function', 'F']], 'go'))
const text = nodesOf('LICENSE', ['file', 'LICENSE'], 'unknown')
const methods = nodesOf('a.py', ['method', 'm'])

type Given = Partial<Parameters<typeof requireFitting>[2]> & {
  nodes?: Parameters<typeof requireFitting>[0]
  bundles?: Parameters<typeof requireFitting>[1]
  /** Of the repository. */
  files?: string[]
}

/** The message, or undefined when something fits. */
async function refusal({ nodes = [], bundles = [lint], files = [], ...filters }: Given): Promise<string | undefined> {
  return requireFitting(nodes, bundles, filters, async () => files).then(
    () => undefined,
    (error: Error & { code?: string }) => `${error.code} ${error.message}`,
  )
}

describe('a run whose agents fit nothing that was found', () => {
  it('says what they work on and what there is, by language', async () => {
    const one = 'INTAKE_007 this agent works on Python; found: Go 2 files, other 1 file'
    expect(await refusal({ nodes: [...go, ...text] })).toBe(one)
    const bundles = [lint, aBundle('docstring', ['function'])]
    expect(await refusal({ nodes: go, bundles })).toBe('INTAKE_007 these agents work on Python; found: Go 2 files')
    expect(await refusal({ bundles, files: ['a.go'] })).toContain('found: no source files')
  })

  it('says which kinds of nodes there are where the language fits', async () => {
    const classes = nodesOf('a.py', ['file', 'a.py', ['class', 'A']])
    const message = 'this agent works on function and method nodes in Python; found: class 1 node, file 1 node'
    expect(await refusal({ nodes: [...classes, ...go] })).toBe(`INTAKE_007 ${message}`)
  })

  it('says so when the paths match no source file', async () => {
    const files = ['src/a.py']
    expect(await refusal({ paths: ['scr'], files })).toBe('INTAKE_007 no source file matches the paths scr')
  })

  it('names the files that fit, and the filter of the request that left them out', async () => {
    const files = ['a.py', 'old/b.py', 'web/c.ts']
    expect(await refusal({ languages: ['go'], files })).toBe(
      'INTAKE_007 this agent works on Python; found: Python 2 files, left out by --languages go',
    )
    expect(await refusal({ languages: ['go'], files, nodes: go })).toContain(
      'found: Go 2 files; Python 2 files, left out by --languages go',
    )
    expect(await refusal({ exclude: ['a.py', 'old'], files })).toContain(
      'Python 2 files, left out by --exclude a.py old',
    )
    expect(await refusal({ nodeKinds: ['section'], files })).toContain('Python 2 files, left out by --kinds section')
    expect(await refusal({ exclude: ['old'], nodeKinds: ['section'], files })).toContain(
      'left out by --exclude old and --kinds section',
    )
    expect(await refusal({ paths: ['old'], languages: ['go'], files })).toContain('found: Python 1 file, left out by')
    const functions = [aBundle('docstring', ['function'])]
    expect(await refusal({ nodes: methods, bundles: functions, nodeKinds: ['method'], files })).toContain(
      'this agent works on function nodes in Python; found: method 1 node; others are left out by --kinds method',
    )
  })

  it('is none when a single node fits one of them', async () => {
    expect(await refusal({ nodes: [...go, ...nodesOf('a.py', ['function', 'f'])] })).toBeUndefined()
  })
})
