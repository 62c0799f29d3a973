import { describe, expect, it } from 'vitest'
import { requireFitting } from './require-fitting.ts'
import { aBundle, nodesOf } from './planning.fixture.ts'

const lint = aBundle('lint', ['function', 'method'])
const go = ['a.go', 'b.go'].flatMap((path) => nodesOf(path, ['file', path, ['function', 'F']], 'go'))
const text = nodesOf('LICENSE', ['file', 'LICENSE'], 'unknown')

describe('a run whose agents fit nothing that was found', () => {
  it('says what they work on and what there is, by language', () => {
    const message = 'this agent works on Python; found: Go 2 files, other 1 file'
    expect(() => requireFitting([...go, ...text], [lint], {})).toThrow(
      expect.objectContaining({ code: 'INTAKE_007', message }),
    )
    const both = [lint, aBundle('docstring', ['function'])]
    expect(() => requireFitting(go, both, {})).toThrow('these agents work on Python; found: Go 2 files')
    expect(() => requireFitting([], both, {})).toThrow('found: no source files')
  })

  it('says which kinds of nodes there are where the language fits', () => {
    const classes = nodesOf('a.py', ['file', 'a.py', ['class', 'A']])
    const message = 'this agent works on function and method nodes in Python; found: class 1 node, file 1 node'
    expect(() => requireFitting([...classes, ...go], [lint], {})).toThrow(message)
  })

  it('says so when the paths match no source file', () => {
    expect(() => requireFitting([], [lint], { paths: ['scr'] })).toThrow('no source file matches the paths scr')
  })

  it('is none when a single node fits one of them', () => {
    requireFitting([...go, ...nodesOf('a.py', ['function', 'f'])], [lint], {})
  })
})
