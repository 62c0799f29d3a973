import { findDocstringSite } from '#languages/python/docstring-site.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'
import { describeDefinition } from '#stages/operate/tools/externals/describe-definition.ts'
import type { AttemptPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { clip } from '#stages/operate/tools/shorten.ts'
import type { LocatedNode, TargetNode } from '#stages/operate/tools/target-node.ts'
import type { FoundRunner } from '#stages/operate/tools/tests/find-runner.ts'
import { textOf } from '#stages/operate/tools/tests/find-tests.ts'
import type { TestProofs } from '#stages/operate/tools/tests/prove-tests.ts'
import { type TestPlace, testPlaceOf } from './externals/test-place.ts'
import { survivorsOf } from '#stages/operate/tools/tests/try-mutants.ts'
import { writeTests, type WritingDeps, type WrittenTests } from './externals/write-tests.ts'
import type { Workspace } from '#stages/operate/workspace/open-workspace.ts'
import { text } from '#stages/operate/tools/externals/external-arguments.ts'
import { shownResult } from '#stages/operate/tools/externals/program-externals.ts'

const maxCode = 20_000
const snippetMs = 20_000
const maxExample = 4_000
const shownPaths = 20

export type TestExternalDeps = Omit<WritingDeps, 'workspace' | 'tests'> & {
  syntax: WritingDeps['syntax'] & Parameters<typeof testPlaceOf>[2]['syntax']
  programs: AttemptPrograms
  tests: TestProofs
  signal: AbortSignal
}

/** `describe_tests`, `run_snippet` and `write_tests`: what an agent needs to write the tests of its node. */
export function testExternals(workspace: Workspace, target: TargetNode, deps: TestExternalDeps) {
  const { tests, signal } = deps
  const testFile = async () => {
    const used = await tests.runner(target.node.language, signal)
    return { used, place: await testPlaceOf(target, used, { workspace, syntax: deps.syntax }) }
  }
  return {
    async describe_tests() {
      const { used, place: file } = await testFile()
      return describeTests(await target.locate(), { target, used, file, workspace }, deps)
    },
    async run_snippet([code]) {
      const given = text(code, 'code')
      if (given.length > maxCode || given.includes('\0'))
        throw new ScriptError('ValueError', `code has at most ${maxCode} characters, and no NUL in them`)
      return shownResult(
        await deps.programs.run({ command: snippet(target.node.language, given) }, { wallMs: snippetMs }),
      )
    },
    async write_tests([given]) {
      const { place: file } = await testFile()
      const written = { place: file, source: target.node.path }
      return writtenView(await writeTests(text(given, 'text'), written, { ...deps, workspace }, signal))
    },
  } satisfies Record<string, ExternalFunction>
}

type Described = { target: TargetNode; used: FoundRunner; file: TestPlace; workspace: Workspace }

async function describeTests(
  { source, start, end }: LocatedNode,
  { target: { node }, used, file, workspace }: Described,
  deps: Pick<TestExternalDeps, 'python' | 'rulesOf'>,
) {
  const { text: style } = await deps.rulesOf(file.path)
  const [example] = file.near
  const shown = example === undefined ? null : { path: example, text: await textOf(workspace, example) }
  return {
    name: node.name,
    qualified_name: node.qualifiedName,
    kind: node.kind,
    language: node.language,
    path: node.path,
    code: source.slice(start, end),
    signature: node.language === 'python' ? signatureOf(source, start, deps) : null,
    runner: used.tool,
    runner_version: used.version,
    test_path: file.path,
    style: file.style,
    imports: file.imports,
    import_here: file.importHere,
    // A suite that is put around them indents them.
    line_length: style.lineLength - (file.style === 'suites' ? 2 : 0),
    tests_naming_it: file.near.slice(0, Math.min(file.naming, shownPaths)),
    tests_near: file.near.slice(0, shownPaths),
    example: shown && { ...shown, text: clip(shown.text, maxExample) },
  }
}

function writtenView({ path, kept, dropped, proof }: WrittenTests) {
  return {
    path,
    kept,
    runs: proof.runs,
    dropped: dropped.slice(0, shownPaths),
    planted_faults: proof.mutants.length,
    noticed: proof.mutants.filter(({ isKilled }) => isKilled).length,
    not_noticed: survivorsOf(proof),
  }
}

function signatureOf(source: string, start: number, { python }: Pick<TestExternalDeps, 'python'>) {
  return python.read(source, (tree) => {
    const site = findDocstringSite(tree, start)
    if (site === undefined) return null
    const { parameters, returns, raises, decorators, yields } = describeDefinition(site)
    return { parameters, returns, raises, decorators, yields }
  })
}

const pythonSnippet =
  'import os, sys; sys.path[:0] = [os.getcwd(), os.path.abspath("src")]; exec(compile(sys.argv[1], "snippet", "exec"), {"__name__": "__main__"})'

function snippet(language: string, code: string): [string, ...string[]] {
  if (language === 'python') return ['python3', '-c', pythonSnippet, code]
  return ['node', '--input-type=module-typescript', '--eval', code]
}
