import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TextCheck } from '#domain/checks.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { draws, fc } from '#testing/fast-check.ts'
import { bodiesKept } from './bodies-kept.ts'
import { openEvidenceChecker } from './evidence-checker.ts'
import { namesKept, neededImportsKept } from './names-and-imports-kept.ts'
import { operandsKept } from './operands-kept.ts'
import { openPythonFacts, type PythonReader } from './python-facts.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const python = await loadLanguage('python')
const { checker: shared, linter } = await testEvidence()

const folder = join(import.meta.dirname, '../../../examples/inventory')
const members = Array.from(
  { length: 8 },
  (_, at) => `    def f${at}(self, a):\n        # why ${at}\n        return a(${at})\n`,
)
const nested =
  `#!/usr/bin/env python\nimport os\nfrom a import b as c\n\n\nclass A:\n    """A."""\n\n    x = 1; y = 2\n\n${members.join('\n')}\n` +
  `    # the end\n\n\n@c\nclass B(A):\n\n${members.join('\n')}\n# type: ignore\nif os.x:\n    def f(): ...\nelse:\n    def f(self):\n        pass\n\n` +
  'x = (\n    1,  # one\n    2,\n)\nz = """\ndef g():\n"""\nasync def g():\n    await c()\n\n\n__all__ = ["A", "B"]\n'
const sources = [
  ...['src/inventory', 'tests'].flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.py'))
      .map((file) => readFileSync(join(folder, name, file), 'utf8')),
  ),
  nested,
  nested.replaceAll('\n', '\r\n'),
  nested.replaceAll('    ', '\t'),
]

const docstring = fc.constantFrom(
  '"""Do it."""',
  '"""Do it.\n\n        ... pass\n        """',
  '"""Do it.\n\n        Args:\n            a: It.\n        """',
  '# why',
  '...',
  'pass',
  '',
)
const statement = fc.constantFrom(
  'import os',
  'from b import *',
  'x = 1',
  'a.b(c)',
  'return None',
  'if x:',
  'else:',
  '__all__ = ["b"]',
  'def f(self):',
  'class C: pass',
  '@c',
  'global x',
  '# type: ignore',
  'x = 1 \\',
  '"text"',
)
const broken = fc.constantFrom(')', 'x = (', '"""')
const edit = fc.record({
  /** A whole definition may go, stay twice, or be another's; else lines change. */
  kind: fc.constantFrom('lines', 'lines', 'lines', 'lines', 'gone', 'twice', 'swapped'),
  at: fc.nat(),
  removed: fc.constantFrom(0, 0, 0, 1, 1, 3),
  indent: fc.constantFrom(0, 4, 8, undefined),
  line: fc.oneof(
    { weight: 12, arbitrary: docstring },
    { weight: 6, arbitrary: statement },
    { weight: 1, arbitrary: broken },
  ),
})
type Edit = { kind: string; at: number; removed: number; indent: number | undefined; line: string }

function edited(source: string, { kind, at, removed, indent, line }: Edit): string {
  const lines = source.split('\n')
  const heads = lines.flatMap((text, row) => (/^\s*(?:def|class) .*:\r?$/.test(text) ? row : []))
  const start = heads[at % (2 * heads.length)] ?? at % lines.length
  const own = indentOf(lines[start] ?? '')
  const without = (from: number, to: number, put: readonly string[]) =>
    [...lines.slice(0, from), ...put, ...lines.slice(to)].join('\n')
  if (kind === 'lines') {
    const isInBody = heads.includes(start)
    const blanks = indent === undefined ? own + (isInBody ? '    ' : '') : ' '.repeat(indent)
    return without(start + (isInBody ? 1 : 0), start + (isInBody ? 1 : 0) + removed, [blanks + line])
  }
  const next = lines.findIndex((text, row) => row > start && text.trim() !== '' && indentOf(text).length <= own.length)
  const end = next < 0 ? lines.length : next
  const whole = lines.slice(start, end)
  if (kind === 'swapped') return without(start, end + 1, [...lines.slice(end, end + 1), ...whole])
  return without(start, end, kind === 'gone' ? [] : [...whole, ...whole])
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? ''
}

const checks: TextCheck[] = [
  'comments_kept',
  'names_kept',
  'needed_imports_kept',
  'line_length',
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

describe('evidence from the statements that a change is in', () => {
  it('is that of both texts read whole and by themselves', async () => {
    const edits = fc.tuple(fc.constantFrom(...sources), fc.array(edit, { minLength: 1, maxLength: 2 }))
    const counts = { parsed: 0, inPart: 0, sameCode: 0 }
    await fc.assert(
      fc.asyncProperty(edits, async ([before, [...all]]) => {
        const after = all.reduce(edited, before)
        const file = { path: 'a.py', before, after, rules: wideRules }
        const whole = openEvidenceChecker({
          linter,
          python: alone,
          syntax: { compare: never, check: never },
          inFull: true,
        })
        expect(await verdicts(shared.check(file, checks))).toEqual(await verdicts(whole.check(file, checks)))
        if ([before, after].some((text) => alone.read(text, ({ rootNode }) => rootNode.hasError))) return
        counts.parsed += 1
        const facts = openPythonFacts(alone)(before, after)
        counts.inPart += facts.inPart(() => 1) ?? 0
        if (!facts.isSameCode()) return
        counts.sameCode += 1
        // Asked of the same code all the same.
        const decidedByCode = [
          namesKept(facts, wideRules),
          neededImportsKept(facts, { path: 'a.py', ownModules: undefined }),
          bodiesKept(facts),
          operandsKept(facts),
        ]
        expect(decidedByCode.flatMap(({ fault }) => fault ?? [])).toEqual([])
      }),
      { numRuns: draws(1_000) },
    )
    expect(counts.sameCode).toBeGreaterThan(counts.parsed / 20)
    expect(counts.inPart / counts.parsed).toBeGreaterThan(0.95)
  }, 900_000)
})

const never = () => Promise.reject(new Error('no check of Python asks this'))

async function verdicts(evidence: ReturnType<typeof shared.check>) {
  return (await evidence).map(({ check, ok, detail }) => ({ check, ok, detail }))
}
