import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { runCommand } from '../run-command.ts'
import { shortHash } from '../prepare-package.ts'
import { commentsThatMayGo, triedAsConfigured } from './candidate-rules.ts'
import { compareComments, fixTree, restoreTree, type Corpus } from './fix-tree.ts'
import type { CorpusFigures } from './measure-corpus.ts'
import type { Bench } from './test-beds.ts'
import type { TestBed } from './try-on-tests.ts'

export const SecondLook = z.strictObject({
  /** Rule → those of the tests it changes that also change when its fixes leave the files of tests alone. */
  outsideOfTests: z.record(z.string(), z.array(z.string())),
  /** Rules that only lose comments they are there to remove: what else their fixes did. */
  removers: z.record(
    z.string(),
    z.strictObject({ fixes: z.number(), otherComments: z.array(z.string()), tests: z.array(z.string()) }),
  ),
})
export type SecondLook = z.infer<typeof SecondLook>

const testFiles = ['test', 'tests', 'testing', 'test_*.py', 'conftest.py']

/**
 * Looks again at rules that the first look refuses. A test that compares its own source or line numbers changes with any
 * edit of its file: so each rule that changes tests is tried without the files of tests. And a rule whose purpose is to
 * remove a comment is judged by what else it does. Cached under a key made of the first look's results.
 */
export async function lookAgain(
  { corpus, openBed }: Bench,
  first: CorpusFigures,
  ownConfig: boolean,
): Promise<SecondLook> {
  const source = await readFile(new URL(import.meta.url), 'utf8')
  const file = join(corpus.logs, `second-look-${shortHash([JSON.stringify(first), source, String(ownConfig)])}.json`)
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return SecondLook.parse(JSON.parse(kept))

  const look: SecondLook = { outsideOfTests: {}, removers: {} }
  const removers = Object.entries(first.trials).flatMap(([rule, trial]) => {
    const purpose = commentsThatMayGo[rule]
    const asConfigured = triedAsConfigured.has(rule)
    if (purpose === undefined || (asConfigured && !ownConfig)) return []
    return asConfigured || trial.lost.every((text) => purpose.test(text)) ? [{ rule, purpose, asConfigured }] : []
  })
  if (removers.length + Object.keys(first.culprits).length > 0) {
    const bed = await openBed()
    for (const [rule, tests] of Object.entries(first.culprits))
      look.outsideOfTests[rule] = await lostOutsideOfTests(corpus, bed, rule, tests)
    for (const remover of removers) look.removers[remover.rule] = await tryRemover(corpus, bed, remover)
  }
  await writeFile(file, JSON.stringify(look, null, 1))
  return look
}

async function lostOutsideOfTests(corpus: Corpus, bed: TestBed, rule: string, tests: readonly string[]) {
  await restoreTree(corpus)
  await fixTree({ ...corpus, exclude: [...corpus.exclude, ...testFiles] }, [rule], ['.'])
  const lost = await bed.lost(tests)
  console.log(`${corpus.name}: ${rule} changes ${lost.length} of ${tests.length} tests when the files of tests stay`)
  return lost
}

type Remover = { rule: string; purpose: RegExp; asConfigured: boolean }

async function tryRemover(corpus: Corpus, bed: TestBed, { rule, purpose, asConfigured }: Remover) {
  await restoreTree(corpus)
  const fixes = asConfigured ? await fixAsConfigured(corpus, rule) : await fixTree(corpus, [rule], ['.'])
  const entries = await readdir(corpus.pristine, { recursive: true })
  const { lost, moved } = await compareComments(
    corpus,
    entries.filter((path) => /\.pyi?$/.test(path)),
  )
  const tests = fixes === 0 ? [] : await bed.lost(bed.passing)
  console.log(`${corpus.name}: ${rule} makes ${fixes} fixes and changes ${tests.length} tests`)
  return { fixes, otherComments: [...lost.filter((text) => !purpose.test(text)), ...moved], tests }
}

/** The rule's safe fixes where the repository's own configuration asks for them. */
async function fixAsConfigured(corpus: Corpus, rule: string): Promise<number> {
  const { out } = await runCommand({
    argv: [
      corpus.ruff,
      'check',
      '--no-cache',
      '--fix',
      '--no-unsafe-fixes',
      '--fixable',
      rule,
      '--output-format',
      'concise',
      '.',
    ],
    cwd: corpus.tree,
    env: {},
    limitMs: 60_000,
    logFile: join(corpus.logs, `ruff-${corpus.name}`),
  })
  return Number(/\((\d+) fixed/.exec(out)?.[1] ?? 0)
}
