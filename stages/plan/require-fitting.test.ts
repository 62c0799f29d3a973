import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
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
function refusal({ nodes = [], bundles = [lint], files = [], ...filters }: Given): string | undefined {
  const repository = files.map((path) => ({ path }))
  try {
    requireFitting(nodes, bundles, filters, repository)
    return undefined
  } catch (error) {
    return error instanceof AppError ? `${error.code} ${error.message}` : String(error)
  }
}

describe('a run whose agents fit nothing that was found', () => {
  it('says what they work on and what there is, by language', () => {
    const one = 'INTAKE_007 this agent works on Python; found: Go 2 files, other 1 file'
    expect(refusal({ nodes: [...go, ...text] })).toBe(one)
    const bundles = [lint, aBundle('docstring', ['function'])]
    expect(refusal({ nodes: go, bundles })).toBe('INTAKE_007 these agents work on Python; found: Go 2 files')
    expect(refusal({ bundles, files: ['a.go'] })).toContain('found: no source files')
  })

  it('says which kinds of nodes there are where the language fits', () => {
    const classes = nodesOf('a.py', ['file', 'a.py', ['class', 'A']])
    const message = 'this agent works on function and method nodes in Python; found: class 1 node, file 1 node'
    expect(refusal({ nodes: [...classes, ...go] })).toBe(`INTAKE_007 ${message}`)
  })

  it('says so when the paths match no source file', () => {
    const files = ['src/a.py']
    expect(refusal({ paths: ['scr'], files })).toBe('INTAKE_007 no source file matches the paths scr')
  })

  it('names the files that fit, and the filter of the request that left them out', () => {
    const files = ['a.py', 'old/b.py', 'web/c.ts']
    expect(refusal({ languages: ['go'], files })).toBe(
      'INTAKE_007 this agent works on Python; found: Python 2 files, left out by --languages go',
    )
    expect(refusal({ languages: ['go'], files, nodes: go })).toContain(
      'found: Go 2 files; Python 2 files, left out by --languages go',
    )
    expect(refusal({ exclude: ['a.py', 'old'], files })).toContain('Python 2 files, left out by --exclude a.py old')
    expect(refusal({ nodeKinds: ['section'], files })).toContain('Python 2 files, left out by --kinds section')
    expect(refusal({ exclude: ['old'], nodeKinds: ['section'], files })).toContain(
      'left out by --exclude old and --kinds section',
    )
    expect(refusal({ paths: ['old'], languages: ['go'], files })).toContain('found: Python 1 file, left out by')
    const functions = [aBundle('docstring', ['function'])]
    expect(refusal({ nodes: methods, bundles: functions, nodeKinds: ['method'], files })).toContain(
      'this agent works on function nodes in Python; found: method 1 node; others are left out by --kinds method',
    )
  })

  it('is none when a single node fits one of them', () => {
    expect(refusal({ nodes: [...go, ...nodesOf('a.py', ['function', 'f'])] })).toBeUndefined()
  })
})
