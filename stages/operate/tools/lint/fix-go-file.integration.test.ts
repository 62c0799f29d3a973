import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { changeChecks } from '#domain/checks.ts'
import { defaultTextStyle, goLintRules, type PathRules } from '#domain/path-rules.ts'
import { testGofmt } from '#languages/go/lint/go-linter.fixture.ts'
import { composedEdits, fixFile } from './fix-file.ts'
import type { FileToFix } from './fix-set.ts'
import { testEvidence } from '../../evidence/test-evidence.fixture.ts'

const { searchPath, lack } = await testGofmt(process.env)
const { checker, linter, python } = await testEvidence({ searchPath })
const deps = { linter, python, evidence: checker }
const rules: PathRules = { lint: goLintRules, text: defaultTextStyle, keptNames: [] }

async function fixed(source: string, asked: Partial<FileToFix> = {}) {
  const file = { path: 'a.go', source, rules, checks: changeChecks, keepOut: [], ...asked }
  const { sets, leftAlone } = await fixFile(file, deps, new AbortController().signal)
  for (const { evidence } of sets) {
    expect(evidence.map(({ check, ok }) => [check, ok])).toEqual(changeChecks.map((check) => [check, true]))
  }
  const edits = composedEdits(sets)
  if (edits === undefined) throw new Error('the sets cannot be composed')
  return {
    sets: Object.fromEntries(sets.map((set) => [set.rules.join(' '), set.text])),
    together: Buffer.from(applyEdits(Buffer.from(source), edits)).toString(),
    leftAlone,
  }
}

const rough = `package a

type T struct {
  A int
  Longer string // é𝒳
}

func first( x []T ) {
  for i, _ := range x {
\t\tprintln( i )
  }
}



func second() []T {
\treturn []T{T{1, "a"}}
}

func third() {
    println( 3 )
}
`

describe.skipIf(lack !== undefined)('the fixes of a Go file', () => {
  it('make of it what gofmt -s does, in a change set for each of both rules', async () => {
    const { sets, together, leftAlone } = await fixed(rough)
    expect(together).toBe(await linter.go.formatted(rough))
    expect(leftAlone).toEqual([])
    expect(Object.keys(sets).toSorted()).toEqual(['gofmt', 'gofmt-s'])
    expect(sets['gofmt']).toContain('T{T{1, "a"}}')
    expect(sets['gofmt-s']).toContain('T{{1, "a"}}')
    expect(sets['gofmt-s']).toContain('println( 3 )')
  })

  it('in one node change its lines alone', async () => {
    const start = rough.indexOf('func third')
    const { together } = await fixed(rough, { within: [{ start, end: rough.length - 1 }] })
    expect(together).toBe(rough.replace('    println( 3 )', '\tprintln(3)'))
  })

  it('stay out of what an agent works on', async () => {
    const start = rough.indexOf('func first')
    const part = { start, end: rough.indexOf('\n\n\n', start) }
    const { together } = await fixed(rough, { keepOut: [part] })
    expect(together).toContain(rough.slice(part.start, part.end))
    expect(together).toContain('\tprintln(3)')
  })

  it('of several nodes are together those of the file', async () => {
    const parts = ['type T', 'func first', 'func second', 'func third'].map((head) => {
      const start = rough.indexOf(head)
      return { start, end: rough.indexOf('\n}\n', start) + 2 }
    })
    const all = []
    for (const part of parts) {
      const { sets } = await fixFile(
        { path: 'a.go', source: rough, rules, checks: changeChecks, keepOut: [], within: [part] },
        deps,
        new AbortController().signal,
      )
      all.push(...sets)
    }
    const edits = composedEdits(all) ?? []
    const together = Buffer.from(applyEdits(Buffer.from(rough), edits)).toString()
    expect(together.replace('\n\n\n\n', '\n\n')).toBe(await linter.go.formatted(rough))
  })

  it('take a file of many faults', { timeout: 60_000 }, async () => {
    const text = `package a\n\n${Array.from({ length: 2000 }, (_, at) => `func f${at}() []T {\n  return []T{T{${at}}}\n}\n`).join('\n\n\n')}`
    expect((await fixed(text)).together).toBe(await linter.go.formatted(text))
  })
})
