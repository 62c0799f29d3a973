import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { TextCheck } from '#domain/checks.ts'
import { importsIn } from '#languages/python/import-facts.ts'
import { moduleBindingsOf } from '#languages/python/module-bindings.ts'
import { loneFillersIn } from '#languages/python/python-structure.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { linesOf } from '#platform/changed-ranges.ts'
import { draws, fc } from '#testing/fast-check.ts'
import { openEvidenceChecker } from './evidence-checker.ts'
import { openPythonFacts, type PythonReader } from './python-facts.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const python = await loadLanguage('python')
const { checker: shared, linter } = await testEvidence()

const folder = join(import.meta.dirname, '../../../examples/inventory/src/inventory')
const small =
  'import os\nfrom a import b as c\n\n\nclass A:\n    """A."""\n\n    def f(self): ...\n\n    def g(self):\n        pass\n'
const sources = [...readdirSync(folder)].flatMap((name) =>
  name.endsWith('.py') ? readFileSync(join(folder, name), 'utf8') : small,
)

const docstring = fc.constantFrom(
  '"""Do it."""',
  '"""Do it.\n\n        ... pass\n        """',
  '# why',
  '...',
  'pass',
  '',
)
const statement = fc.constantFrom('import os', 'x = 1', 'return None', 'if x:', '__all__ = ["b"]', 'def f(self):', ')')
const edit = fc.record({
  at: fc.nat(),
  removed: fc.constantFrom(0, 0, 0, 1, 1, 3),
  indent: fc.constantFrom(0, 4, 8),
  line: fc.oneof({ weight: 8, arbitrary: docstring }, { weight: 1, arbitrary: statement }),
})
type Edit = { at: number; removed: number; indent: number; line: string }

function edited(source: string, { at, removed, indent, line }: Edit): string {
  const lines = source.split('\n')
  const heads = lines.flatMap((text, row) => (/^\s*(?:def|class) .*:$/.test(text) ? row + 1 : []))
  const start = heads[at % (2 * heads.length)] ?? at % lines.length
  return [...lines.slice(0, start), ' '.repeat(indent) + line, ...lines.slice(start + removed)].join('\n')
}

const checks: TextCheck[] = [
  'comments_kept',
  'names_kept',
  'needed_imports_kept',
  'bodies_kept',
  'operands_kept',
  'docstring_only',
  'parameters_documented',
  'says_something',
]

/** Reads each text by itself, whatever was read before. */
const alone: PythonReader = {
  parse: python.parse,
  read(text, look) {
    const tree = python.parse(text)
    try {
      return look(tree)
    } finally {
      tree.delete()
    }
  },
}

describe('evidence from what is known of the text before', () => {
  it('is that of both texts read by themselves', async () => {
    const edits = fc.tuple(fc.constantFrom(...sources), fc.array(edit, { minLength: 1, maxLength: 2 }))
    let [asked, sameCode] = [0, 0]
    await fc.assert(
      fc.asyncProperty(edits, async ([before, [...all]]) => {
        const after = all.reduce(edited, before)
        const file = { path: 'a.py', before, after, rules: wideRules }
        const fresh = openEvidenceChecker({ linter, python: alone, syntax: { read: never, check: never } })
        expect(await shared.check(file, checks)).toEqual(await fresh.check(file, checks))
        const [was, now] = [before, after].map((text) => openPythonFacts(alone)(text, text).before)
        asked += 1
        if (was?.structure() !== now?.structure()) return
        sameCode += 1
        expect(decidedByCode(after)).toEqual(decidedByCode(before))
        const fillers = [before, after].map((text) =>
          linesOf(text)
            .filter((line) => /\bpass\b|\.\.\./.test(line))
            .join(),
        )
        const lone = [before, after].map((text) => alone.read(text, loneFillersIn))
        expect(fillers[0] !== fillers[1] || isDeepStrictEqual(lone[0], lone[1])).toBe(true)
      }),
      { numRuns: draws(500) },
    )
    expect(sameCode).toBeGreaterThan(asked / 20)
  })
})

const never = () => Promise.reject(new Error('no check of Python asks this'))

/** Leaves out places, which a docstring moves. */
function decidedByCode(text: string) {
  const { bindings, exported } = alone.read(text, moduleBindingsOf)
  const imports = alone.read(text, importsIn)
  return {
    bindings: bindings.map(({ scope, name, kind }) => [scope, name, kind]),
    exported,
    imports: imports.map(({ module, imported, name, scope }) => [module, imported, name, scope]),
  }
}
