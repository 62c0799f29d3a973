import { describe, expect, it } from 'vitest'
import { countVerdicts, drawSample, type Hunk, readHunks, type Sample } from './sample.ts'
import type { BothSides, SourceFacts } from './source-facts.ts'

const patch = `diff --git a/pkg/a.py b/pkg/a.py
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -1,9 +1,9 @@
-import os
 import sys
 
 
 def f():
+    """Do f."""
     return sys.argv
 
 
-x = "{}".format(1)
+x = f"{1}"
`

const definition = { name: 'f', kind: 'function' as const, line: 4, apart: null }
const file = (docstring: [number, number] | null): ReadonlyMap<string, SourceFacts> =>
  new Map([['pkg/a.py', { path: 'pkg/a.py', head: '', comments: [], definitions: [{ ...definition, docstring }] }]])
const sides: BothSides = { before: file(null), after: file([5, 5]) }

describe('the hunks of a patch', () => {
  it('are the smallest there are, each with its agent', () => {
    const hunks = readHunks(patch, sides)
    expect(hunks.map(({ agent, line }) => [agent, line])).toEqual([
      ['lint', 1],
      ['docstring', 5],
      ['lint', 9],
    ])
    expect(hunks[2]?.diff).toBe('     return sys.argv\n \n \n-x = "{}".format(1)\n+x = f"{1}"')
  })

  it('are of lint where the docstring was there before', () => {
    expect(readHunks(patch, { ...sides, before: file([4, 4]) }).map(({ agent }) => agent)).toEqual([
      'lint',
      'lint',
      'lint',
    ])
  })
})

describe('the sample', () => {
  const hunks = Array.from({ length: 40 }, (_, at): Hunk => {
    return { agent: 'lint', file: 'a.py', line: at, diff: `-x = ${at}\n+y = ${at}` }
  })
  const packages = [{ name: 'one', hunks }]
  const judge = (sample: Sample, verdict: string) => sample.map((hunk) => ({ ...hunk, verdict }))

  it('is the same every time, of the size asked for', () => {
    const sample = drawSample(packages, [], 10)
    expect(drawSample([{ name: 'one', hunks: hunks.toReversed() }], [], 10)).toEqual(sample)
    expect(countVerdicts(sample)).toEqual({ accepted: 0, refused: 0, open: 10 })
  })

  it('keeps the verdicts of hunks that are the same, and only those', () => {
    const judged = judge(drawSample(packages, [], 40), 'refuse — why not')
    const [first, ...others] = hunks
    const other: Hunk = { agent: 'lint', file: 'a.py', line: 1, diff: '-a\n+b' }
    const moved = others.map((hunk) => ({ ...hunk, line: hunk.line + 100 }))
    expect(first).toBeDefined()
    const again = drawSample([{ name: 'one', hunks: [...moved, other] }], judged, 40)
    expect(countVerdicts(again)).toEqual({ accepted: 0, refused: 39, open: 1 })
  })
})
