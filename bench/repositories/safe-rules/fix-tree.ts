import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { newDiagnostics, readRuff, type Diagnostic } from '../diagnostics.ts'
import { runCommand } from '../run-command.ts'

/** Python files to try fixes on: `pristine` is never written to, `tree` is a copy that is. */
export type Corpus = {
  name: string
  pristine: string
  tree: string
  ruff: string
  python: string
  logs: string
  /** Globs of files that are left out: what others wrote, and data of tests. */
  exclude: readonly string[]
}

/** What the safe fixes of one rule did to a corpus. */
export type RuleTrial = { fixes: number; lost: string[]; moved: string[]; newFaults: Diagnostic[] }

/** With the oldest Python version that the corpus supports, rules for newer versions would be off. */
const targetVersion = 'py310'
const limitMs = 5 * 60_000
const program = fileURLToPath(new URL('compare-comments.py', import.meta.url))
const Difference = z.strictObject({ path: z.string(), lost: z.array(z.string()), moved: z.array(z.string()) })

/** Every file as it was, with its time, so that compiled files of another state are not taken for its own. */
export async function restoreTree({ pristine, tree }: Corpus): Promise<void> {
  await cp(pristine, tree, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
}

/** By rule, the files of the restored tree in which Ruff has a safe fix. */
export async function findSafeFixes(corpus: Corpus, rules: readonly string[]): Promise<Map<string, string[]>> {
  const faults = await askRuff(corpus, rules, ['.'], 'safe')
  const byRule = Map.groupBy(faults, ({ rule }) => rule)
  return new Map(Array.from(byRule, ([rule, all]) => [rule, [...new Set(all.map(({ file }) => file))]]))
}

/** Makes the safe fixes of one rule in `files` of the restored tree, looks at what became of them, and takes them back. */
export async function tryRule(corpus: Corpus, rule: string, files: readonly string[]): Promise<RuleTrial> {
  const faulty = ['F821', 'F811', 'E9']
  const before = await askRuff(corpus, faulty, files, 'all')
  const fixes = await fixTree(corpus, [rule], files)
  const after = await askRuff(corpus, faulty, files, 'all')
  const comments = await compareComments(corpus, files)
  for (const file of files) await cp(join(corpus.pristine, file), join(corpus.tree, file), { preserveTimestamps: true })
  return { fixes, ...comments, newFaults: newDiagnostics(before, after) }
}

/** The number of fixes made. */
export async function fixTree(corpus: Corpus, rules: readonly string[], files: readonly string[]): Promise<number> {
  const end = await ruffCheck(corpus, rules, ['--fix', '--no-unsafe-fixes', ...files])
  return Number(/\((\d+) fixed/.exec(end)?.[1] ?? /Found (\d+) errors? \(/.exec(end)?.[1] ?? 0)
}

async function askRuff(
  corpus: Corpus,
  rules: readonly string[],
  files: readonly string[],
  which: 'all' | 'safe',
): Promise<Diagnostic[]> {
  return readRuff(await ruffCheck(corpus, rules, ['--no-fix', '--output-format', 'json', ...files]), corpus.tree, which)
}

async function ruffCheck(corpus: Corpus, rules: readonly string[], args: readonly string[]): Promise<string> {
  const excluded = corpus.exclude.flatMap((glob) => ['--extend-exclude', glob])
  const options = ['--isolated', '--no-cache', '--force-exclude', '--target-version', targetVersion, ...excluded]
  const end = await runCommand({
    argv: [corpus.ruff, 'check', ...options, '--select', rules.join(','), ...args],
    cwd: corpus.tree,
    env: {},
    limitMs,
    logFile: join(corpus.logs, `ruff-${corpus.name}`),
  })
  if (end.code !== 0 && end.code !== 1) throw new Error(`ruff ended with ${end.code}: ${end.err.slice(-1_000)}`)
  return end.out
}

/** Comments that the changed ones of `files` have lost or moved. */
export async function compareComments(
  { name, pristine, tree, python }: Corpus,
  files: readonly string[],
): Promise<Pick<RuleTrial, 'lost' | 'moved'>> {
  const changed: string[] = []
  for (const file of files) {
    const [one, other] = await Promise.all([pristine, tree].map((folder) => readFile(join(folder, file))))
    if (one !== undefined && other !== undefined && !one.equals(other)) changed.push(file)
  }
  if (changed.length === 0) return { lost: [], moved: [] }
  const child = spawn(python, [program, pristine, tree], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.end(changed.map((path) => `${JSON.stringify(path)}\n`).join(''))
  const differences: z.infer<typeof Difference>[] = []
  for await (const line of createInterface({ input: child.stdout }))
    differences.push(Difference.parse(JSON.parse(line)))
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
  const listed = (which: 'lost' | 'moved') =>
    differences.flatMap((one) => one[which].map((text) => `${name}/${one.path} ${text}`))
  return { lost: listed('lost'), moved: listed('moved') }
}
