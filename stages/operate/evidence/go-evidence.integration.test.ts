import { describe, expect, it } from 'vitest'
import { changeChecks, type TextCheck } from '#domain/checks.ts'
import { defaultTextStyle, goLintRules, type PathRules } from '#domain/path-rules.ts'
import { testGofmt } from '#languages/go/lint/go-linter.fixture.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const { searchPath, lack } = await testGofmt(process.env)
const { checker, linter } = await testEvidence({ searchPath })
const rules: PathRules = { lint: goLintRules, text: defaultTextStyle, keptNames: [] }

/** The checks that were not passed, and those that could not be made. */
async function open(before: string, after: string, checks: readonly TextCheck[] = changeChecks) {
  const evidence = await checker.check({ path: 'a.go', before, after, inNode: true, rules }, checks)
  return evidence.flatMap(({ check, of = check, ok }) => (ok && check === of ? [] : [ok ? `${of}?` : of]))
}

const rough = `package a

// F is of use.
//   * a
func  F( x []T ) {
  for i, _ := range x { println( i ) } // counts
}

type T struct {
  A int \`json:"a"\`
}
`
const smooth = (await linter.go.formatted(rough).catch(() => undefined)) ?? ''

describe.skipIf(lack !== undefined)('the evidence for Go that is linted', () => {
  it('is given in full when only the format changes, in all of the file or in a part', async () => {
    expect(await open(rough, smooth)).toEqual([])
    expect(await open(rough, rough.replace('println( i )', 'println(i)'))).toEqual([])
    expect(await open(rough.replaceAll('\n', '\r\n'), smooth)).toEqual([])
  })

  it.each([
    ['a literal', 'x := "a  b"', 'x := "a b"'],
    ['an operator', 'x := a + b', 'x := a - b'],
    ['a tag', 'type t struct { A int `json:"a"` }', 'type t struct { A int `json:"b"` }'],
    ['a comment', 'f() // why', 'f()'],
    ['a directive', '//go:noinline\nfunc g() {}', '// go:noinline\nfunc g() {}'],
    ['an import', 'import _ "embed"', ''],
  ])('is not given for a change of %s beside the format', async (_what, was, is) => {
    const text = (part: string) =>
      `package a\n\n${/^(?:type|import|\/\/)/.test(part) ? part : `func  f() {\n${part}\n}`}\n\nvar  b=1\n`
    const [before, after] = [text(was), (await linter.go.formatted(text(is))) ?? '']
    expect(await open(before, after)).toEqual(expect.arrayContaining([expect.stringMatching(/^names_kept\?/)]))
  })

  it('finds new faults of the format and of the syntax', async () => {
    expect(await open(smooth, rough, ['lint_before_after'])).toEqual(['lint_before_after'])
    expect(await open(smooth, `${smooth}func (`, ['parses'])).toEqual(['parses'])
  })

  it('compares other changes as gofmt formats them: a patch may format a file and comment its code', async () => {
    const documented = smooth.replace('type T', '// T is one.\ntype T')
    expect(await open(rough, documented, ['comments_kept', 'names_kept', 'bodies_kept', 'operands_kept'])).toEqual([])
  })

  it('fails for a text that gofmt cannot handle', async () => {
    const deep = `package a\n\nfunc f() {\n${'{'.repeat(4_000)}${'}'.repeat(4_000)}}\n`
    expect(await open('package a\n', deep, ['parses', 'lint_before_after'])).toEqual(['parses', 'lint_before_after'])
  })
})
