import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ruffVersion } from '../bench-packages.ts'
import { Diagnostic } from '../diagnostics.ts'
import { shortHash } from '../prepare-package.ts'
import { refusedOnGround } from './candidate-rules.ts'
import { findSafeFixes, restoreTree, tryRule, type RuleTrial } from './fix-tree.ts'
import type { Bench } from './test-beds.ts'
import { tryOnTests } from './try-on-tests.ts'

const Trial = z.strictObject({
  fixes: z.number(),
  lost: z.array(z.string()),
  moved: z.array(z.string()),
  newFaults: z.array(Diagnostic),
})
export const CorpusFigures = z.strictObject({
  name: z.string(),
  /** Rule → what its safe fixes did here; only rules that have one here. */
  trials: z.record(z.string(), Trial),
  /** Rule → tests that its fixes change. */
  culprits: z.record(z.string(), z.array(z.string())),
  /** Tests that only several rules together change. */
  together: z.array(z.string()),
})
export type CorpusFigures = z.infer<typeof CorpusFigures>

/** Part of the cache's key: when one of these files changes, everything is measured anew. */
const sources = ['fix-tree.ts', 'compare-comments.py', 'try-on-tests.ts', 'test-beds.ts']

/** Tries the rules on one corpus: each alone on the files, all together on the tests. The result is cached. */
export async function measureCorpus({ corpus, openBed }: Bench, rules: readonly string[]): Promise<CorpusFigures> {
  const texts = await Promise.all(sources.map((name) => readFile(new URL(name, import.meta.url), 'utf8')))
  const key = shortHash([ruffVersion, corpus.pristine, rules.join(), ...texts])
  const file = join(corpus.logs, `safe-rules-${key}.json`)
  const cached = await readFile(file, 'utf8').catch(() => undefined)
  if (cached !== undefined) return CorpusFigures.parse(JSON.parse(cached))

  await restoreTree(corpus)
  const trials: Record<string, RuleTrial> = {}
  for (const [rule, files] of await findSafeFixes(corpus, rules)) trials[rule] = await tryRule(corpus, rule, files)
  console.log(`${corpus.name}: ${Object.keys(trials).length} rules have a safe fix`)
  const harmless = Object.entries(trials).flatMap(([rule, trial]) => (isHarmless(rule, trial) ? [rule] : []))
  const { culprits, together } = await tryOnTests(await openBed(), harmless)
  const figures = { name: corpus.name, trials, culprits: Object.fromEntries(culprits), together }
  await writeFile(file, JSON.stringify(figures, null, 1))
  return figures
}

function isHarmless(rule: string, { fixes, lost, moved, newFaults }: RuleTrial): boolean {
  return fixes > 0 && refusedOnGround[rule] === undefined && lost.length + moved.length + newFaults.length === 0
}
