import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { BenchPackage } from './bench-packages.ts'
import { Diagnostic, readMypyLines, readPyright, readRuff, readStyleLines } from './diagnostics.ts'
import type { PreparedPackage } from './prepare-package.ts'
import { pythonEnv, runCommand } from './run-command.ts'

/** The results of a repository's own checks on one state of its files. */
export const TreeChecks = z.strictObject({
  passed: z.array(z.string()),
  failed: z.array(z.string()),
  /** The whole test suite, from its start to its end. */
  testMs: z.number(),
  /** It did not end in time: no test of it counts as passed. */
  testsLate: z.boolean(),
  lint: z.array(Diagnostic),
  /** Diagnostics of the real Ruff, under the same rules as `lint`, that have a fix which Ruff calls safe. */
  safeFaults: z.array(Diagnostic),
  types: z.array(Diagnostic),
})
export type TreeChecks = z.infer<typeof TreeChecks>

export type CheckedTree = { one: BenchPackage; prepared: PreparedPackage; tree: string }

const testLimitMs = 10 * 60_000
const toolLimitMs = 5 * 60_000
const plugin = fileURLToPath(new URL('pytest-plugin', import.meta.url))
const Outcome = z.strictObject({ id: z.string(), outcome: z.string() })

/** Runs the tests, the linter and the type checkers in `tree`, which they may write to. */
export async function checkTree(checked: CheckedTree): Promise<TreeChecks> {
  // First: the tests leave files of their own in the tree.
  const lint = await runLinter(checked)
  const safeFaults = await runRuff(checked, 'safe')
  const types = await runTypeCheckers(checked)
  return { ...(await runTests(checked)), lint, safeFaults, types }
}

/** With `only`, those tests alone. A test that failed at any stage has failed. */
export async function runTests(
  { one, prepared, tree }: CheckedTree,
  only?: string,
): Promise<Pick<TreeChecks, 'passed' | 'failed' | 'testMs' | 'testsLate'>> {
  const outcomes = join(prepared.work, 'outcomes.jsonl')
  await rm(outcomes, { force: true })
  const paths = [join(tree, one.sources), tree, plugin].join(':')
  const chosen = only === undefined ? {} : { REMORA_ONLY: only }
  const env = pythonEnv(prepared.python, { PYTHONPATH: paths, REMORA_OUTCOMES: outcomes, ...chosen })
  const argv = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'remora_outcomes', ...one.tests]
  const end = await runCommand({
    argv: [prepared.python, ...argv],
    cwd: tree,
    env,
    limitMs: testLimitMs,
    logFile: join(prepared.work, `${only === undefined ? 'tests' : 'tests-again'}-${tree.split('/').at(-1)}`),
  })
  const text = existsSync(outcomes) ? await readFile(outcomes, 'utf8') : ''
  const lines = text.split('\n').filter((line) => line !== '')
  return { ...countOutcomes(lines, tree), testMs: end.ms, testsLate: end.late }
}

function countOutcomes(lines: readonly string[], tree: string): { passed: string[]; failed: string[] } {
  const worst = new Map<string, string>()
  for (const line of lines) {
    const { id, outcome } = Outcome.parse(JSON.parse(line))
    const name = id.replaceAll(tree, '').replaceAll(/0x[0-9a-f]{6,}/g, '0x')
    if (worst.get(name) !== 'failed') worst.set(name, outcome)
  }
  const ended = (as: string) => [...worst].flatMap(([id, outcome]) => (outcome === as ? [id] : []))
  return { passed: ended('passed'), failed: ended('failed') }
}

async function runLinter(checked: CheckedTree): Promise<Diagnostic[]> {
  const { one, prepared, tree } = checked
  const bin = join(prepared.python, '..')
  switch (one.linter.tool) {
    case 'ruff':
    case 'none':
      return runRuff(checked, 'all')
    case 'flake8':
      return readStyleLines(await outputOf(checked, [prepared.python, '-m', 'flake8', '.'], 'lint'))
    case 'pycodestyle':
      // The installed one, not the module in the tree.
      return readStyleLines(await outputOf(checked, [join(bin, 'pycodestyle'), '.'], 'lint')).map((diagnostic) => ({
        ...diagnostic,
        file: diagnostic.file.replace(`${tree}/`, ''),
      }))
    default:
      throw new Error(`no such linter: ${JSON.stringify(one.linter satisfies never)}`)
  }
}

/** The real Ruff with the repository's own configuration, or with the same rules where it has another linter. */
async function runRuff(checked: CheckedTree, which: 'all' | 'safe'): Promise<Diagnostic[]> {
  const ruff = join(checked.prepared.python, '..', 'ruff')
  const options = ['--no-cache', '--no-fix', '--output-format', 'json', ...checked.one.linter.ruff]
  return readRuff(await outputOf(checked, [ruff, 'check', ...options, '.'], 'ruff'), checked.tree, which)
}

async function runTypeCheckers(checked: CheckedTree): Promise<Diagnostic[]> {
  const { one, prepared, tree } = checked
  const found: Diagnostic[] = []
  for (const { tool, args } of one.types) {
    if (tool === 'mypy') {
      const plain = [
        '--no-pretty',
        '--show-error-codes',
        '--no-color-output',
        '--no-incremental',
        '--hide-error-context',
      ]
      found.push(...readMypyLines(await outputOf(checked, [prepared.python, '-m', 'mypy', ...plain, ...args], 'types')))
    } else if (tool === 'zuban') {
      const zuban = join(prepared.python, '..', 'zuban')
      found.push(...readMypyLines(await outputOf(checked, [zuban, 'check', ...args], 'types')))
    } else {
      const pyright = [process.execPath, prepared.pyright, '--outputjson', '--pythonpath', prepared.python] as const
      found.push(...readPyright(await outputOf(checked, [...pyright, ...args], 'types'), tree))
    }
  }
  return found
}

/** Exit code 1 means diagnostics, 2 of mypy a file that does not parse; with any other the tool itself has failed. */
async function outputOf(
  { prepared, tree }: CheckedTree,
  argv: readonly [string, ...string[]],
  name: 'lint' | 'ruff' | 'types',
): Promise<string> {
  const logFile = join(prepared.work, `${name}-${tree.split('/').at(-1)}`)
  const end = await runCommand({ argv, cwd: tree, env: pythonEnv(prepared.python), limitMs: toolLimitMs, logFile })
  const mostCode = name === 'types' && readMypyLines(end.out).length > 0 ? 2 : 1
  if (end.code === null || end.code > mostCode)
    throw new Error(`${argv.join(' ')} ended with ${end.code}: ${(end.err + end.out).slice(-1_000)}`)
  return end.out
}
