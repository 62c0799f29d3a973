import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testGofmt } from '#languages/go/lint/go-linter.fixture.ts'
import { lastDocument } from '../program.ts'
import { sourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

/** A bundle whose tool writes each file's own description, and a note next to it. */
const rewritingAgent = {
  'agents/rewrite/bundle.yaml': `name: rewrite
description: Write what the file says.
node_kinds: [file]
languages: [typescript]
initial_context:
  system_prompt: Rewrite the file. Always respond with a tool call.
  node_context: "{{ file_path }}"
tools:
  - { name: rewrite, script: tools/rewrite.pym, description: Rewrite the file. }
  - { builtin: submit_result }
evidence: [parses, names_kept]
accept_when: [parses, names_kept]
limits: { max_turns: 3, verify_attempts: 0 }
`,
  'agents/rewrite/tools/rewrite.pym': `"""Takes the mark of a comment away from what it hides."""
from typing import Any

from grail import Input, external

file_path: str = Input("file_path")


@external
async def read_file(path: str) -> str: ...


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


before = await read_file(file_path)
await write_file(file_path, before.replace("// ", ""))
await write_file(file_path + ".md", "rewritten")
answer = {"result": "", "summary": "rewritten", "knowledge_delta": {}, "outcome": "success"}
answer
`,
}

const Result = z.object({
  result: z.looseObject({
    checks: z.unknown(),
    run_id: z.string(),
    failures: z.array(z.looseObject({ error_code: z.string(), reason: z.string() })),
  }),
})

const gofmt = await testGofmt(process.env)
const bundles = useSourceFolder(rewritingAgent)
const services = useOneProcess(() => ({
  env: { REMORA_AGENTS_DIR: join(bundles.path, 'agents'), REMORA_MODEL_URLS: 'rehearsal' },
}))

describe('a run over files that are not Python', () => {
  it('takes no change that does not parse, and accepts one by the checks that apply to the language of each file', async () => {
    const folder = await sourceFolder({
      'src/good.ts': '// export const a = 1\n',
      'src/bad.ts': '// export function (((\n',
    })
    const args = ['run', 'src', '--agents', 'rewrite', '--accept', 'auto', '--out', 'x.patch', '--json']
    const run = await services.remora(folder, args, { REMORA_AGENTS_DIR: join(bundles.path, 'agents') })
    expect(run).toMatchObject({ code: 3 })
    const { checks, failures, run_id: runId } = Result.parse(lastDocument(run.out)).result
    expect(failures).toMatchObject([
      { error_code: 'WORK_004', reason: expect.stringMatching(/^parses failed for bad\.ts .*: line 1: /) },
    ])
    // Only the checks that the bundle asks for, and no names of Markdown.
    expect(checks).toEqual({ parses: { ok: 2, total: 2 }, names_kept: { ok: 1, total: 1, not_applicable: 1 } })
    const view: unknown = await (await services.api.ask(`/v1/runs/${runId}`)).json()
    expect(view).toMatchObject({ funnel: [{ agent: 'rewrite', accepted: 1, accepted_unverified: 0 }] })
    expect((await folder.read('x.patch')).match(/^diff .*$/gm)).toHaveLength(2)
    await folder.remove()
  })

  it('writes doc comments, which are proposed because nothing but comments changes', async () => {
    const folder = await sourceFolder({
      'src/sum.ts': 'export class Sum {\n  add(left: number, right = 1): number {\n    return left + right\n  }\n}\n',
      'src/sum.go': 'package sum\n\nfunc Total(a, b int) int { return a + b }\n',
      'src/lib.rs': '#[inline]\npub fn total(a: u8) -> u8 { a }\n',
      'src/Sum.java': 'public class Sum {\n  public int add(int a) { return a; }\n}\n',
    })
    const args = ['run', 'src', '--agents', 'docstring', '--out', 'x.patch', '--json']
    const run = await services.remora(folder, args)
    expect(run).toMatchObject({ code: 0 })
    const { failures } = Result.parse(lastDocument(run.out)).result
    expect(failures).toEqual([])
    const added = (await folder.read('x.patch')).match(/^\+(?!\+).*$/gm)?.map((line) => line.slice(1)) ?? []
    expect(added).toEqual(
      expect.arrayContaining([
        '// Total returns the result of Total.',
        '/// Returns the result of `total`.',
        '   * @param left - The value of left.',
        '   * @param right - The value of right. Defaults to `1`.',
        '   * @param a The value of a.',
        '   * @return The result.',
      ]),
    )
    await folder.remove()
  })

  it("mends what the repository's own rules for JavaScript and TypeScript report, and accepts it by its evidence", async () => {
    const folder = await sourceFolder({
      'src/.eslintrc.json':
        '{ "root": true, "rules": { "prefer-const": "error", "object-shorthand": "error", "no-var": "off" } }',
      'src/a.js':
        "import './effect.js'\n// why\nlet a = 1 // ms\nvar b = 2\nexport const c = { a: a, f: function () { return b } }\n",
      'src/b.ts': '// eslint-disable-next-line prefer-const\nlet a: number = 1\nlet b: number = a\nexport { b }\n',
      'src/broken.ts': 'let a = (1\n',
    })
    const args = ['run', 'src', '--agents', 'lint', '--accept', 'auto', '--out', 'x.patch', '--json']
    const run = await services.remora(folder, args)
    expect(run).toMatchObject({ code: 0 })
    const { checks } = Result.parse(lastDocument(run.out)).result
    expect(checks).toMatchObject({
      lint_before_after: { ok: 2, total: 2 },
      comments_kept: { ok: 2, total: 2 },
      needed_imports_kept: { ok: 2, total: 2 },
      bodies_kept: { ok: 2, total: 2 },
    })
    const changed = (await folder.read('x.patch')).match(/^[-+][^-+].*$/gm)
    expect(changed).toEqual([
      '-let a = 1 // ms',
      '+const a = 1 // ms',
      '-export const c = { a: a, f: function () { return b } }',
      '+export const c = { a, f: function () { return b } }',
      '-let b: number = a',
      '+const b: number = a',
    ])
    await folder.remove()
  })

  it.skipIf(gofmt.lack !== undefined)(
    'formats Go as gofmt -s does, in the file that another agent comments',
    async () => {
      const folder = await sourceFolder({
        'src/sum.go':
          'package sum\n\n// Pair is two numbers:\n//   * A\n//   * B\ntype Pair struct {\n\tA, B int\n\tsum int // of both\n}\n\nfunc Total(all []Pair) int {\n  for i, _ := range all { _ = i }\n  return len([]Pair{Pair{1, 2, 3}})\n}\n',
        'src/vendor/modules.txt': '# other\n',
        'src/vendor/other/other.go': 'package other\nvar  a = 1\n',
        'src/made.go': '// Code generated by make. DO NOT EDIT.\n\npackage sum\nvar  a = 1\n',
        'src/testdata/given.go': 'package given\nvar  a = 1\n',
      })
      const agents = ['--agents', 'lint,docstring', '--out', 'x.patch', '--json']
      const run = await services.remora(folder, ['run', 'src', ...agents])
      expect(run).toMatchObject({ code: 0 })
      const { checks, failures } = Result.parse(lastDocument(run.out)).result
      expect(failures).toEqual([])
      expect(checks).toMatchObject({ lint_before_after: { ok: 1, total: 1 }, operands_kept: { ok: 1, total: 1 } })
      const patch = await folder.read('x.patch')
      expect(patch.match(/^diff .*$/gm)).toEqual(['diff --git a/sum.go b/sum.go'])
      expect(patch.match(/^\+(?!\+).*$/gm)?.map((line) => line.slice(1))).toEqual([
        '//   - A',
        '//   - B',
        '\tsum  int // of both',
        expect.stringMatching(/^\/\/ Total /),
        '\tfor i := range all {',
        '\t\t_ = i',
        '\t}',
        '\treturn len([]Pair{{1, 2, 3}})',
      ])
      await folder.remove()
    },
  )
})
