import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchPackages } from './repositories/bench-packages.ts'
import { cacheFolder, preparePackage } from './repositories/prepare-package.ts'
import { runCommand } from './repositories/run-command.ts'
import { readCandidates, type CandidateRule } from './repositories/safe-rules/candidate-rules.ts'
import { findSafeFixes, restoreTree, tryRule, type RuleTrial } from './repositories/safe-rules/fix-tree.ts'
import { renderSafeRules, staticObjections, type RuleFigures } from './repositories/safe-rules/render-safe-rules.ts'
import { libraryBench, packageBench, type Bench } from './repositories/safe-rules/test-beds.ts'
import { tryOnTests } from './repositories/safe-rules/try-on-tests.ts'

/**
 * `node bench/safe-rules-bench.ts`: which fixes of Ruff lose no comment and change no test, over the packages of the
 * `repositories` bench and the standard library of `python3`. Writes repositories/safe-rules.md: what
 * `safe-fixes.ts` lists is what this found safe. `--only a,b` takes some of them (`library` is the standard library), and
 * only prints; `--no-tests` leaves the tests out. Takes an hour or two.
 */
const { only, 'no-tests': noTests } = parseArgs({
  options: { only: { type: 'string' }, 'no-tests': { type: 'boolean', default: false } },
}).values

const cache = cacheFolder()
const [first] = benchPackages
if (first === undefined) throw new Error('there is no package')
const ruff = join((await preparePackage(first, cache)).python, '..', 'ruff')

async function ask(argv: readonly [string, ...string[]]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }
  const { out } = await runCommand({ argv, cwd: cache, env, limitMs: 60_000, logFile: join(cache, 'log', 'ask') })
  return out.trim()
}

/** The quick suites first: what they refuse need not be tried on the slow ones. */
async function openBenches(): Promise<Bench[]> {
  const slow = ['requests', 'packaging', 'paramiko']
  const ordered = benchPackages.toSorted((one, other) => slow.indexOf(one.name) - slow.indexOf(other.name))
  const chosen = ordered.filter(({ name }) => only?.split(',').includes(name) ?? true)
  const benches: Bench[] = []
  for (const one of chosen) benches.push(await packageBench(one, cache))
  if (only?.split(',').includes('library') ?? true) {
    const program = 'import sys, sysconfig; print(sys.base_prefix); print(sysconfig.get_path("stdlib"))'
    const [prefix = '', stdlib = ''] = (await ask(['python3', '-c', program])).split('\n')
    benches.push(await libraryBench({ prefix, library: stdlib.slice(prefix.length), ruff }, cache))
  }
  return benches
}

async function tryRules({ corpus }: Bench, candidates: readonly CandidateRule[]): Promise<Map<string, RuleTrial>> {
  await restoreTree(corpus)
  const codes = candidates.map(({ code }) => code)
  const trials = new Map<string, RuleTrial>()
  for (const [rule, files] of await findSafeFixes(corpus, codes)) trials.set(rule, await tryRule(corpus, rule, files))
  console.log(`${corpus.name}: ${trials.size} rules have a safe fix`)
  return trials
}

const candidates = readCandidates(await ask([ruff, 'rule', '--all', '--output-format', 'json']))
const benches = await openBenches()
const trialsOf = new Map<string, Map<string, RuleTrial>>()
for (const bench of benches) trialsOf.set(bench.corpus.name, await tryRules(bench, candidates))

const figures = candidates.map((rule): RuleFigures => {
  const trials = new Map<string, RuleTrial>()
  for (const [name, ofCorpus] of trialsOf) {
    const trial = ofCorpus.get(rule.code)
    if (trial !== undefined) trials.set(name, trial)
  }
  return { ...rule, trials, tests: undefined }
})
const tested = new Map(
  figures
    .filter((rule) => rule.trials.size > 0 && staticObjections(rule).length === 0)
    .map(({ code }): [string, string[]] => [code, []]),
)
const together: string[] = []
for (const { corpus, openBed } of noTests ? [] : benches) {
  const here = trialsOf.get(corpus.name) ?? new Map()
  const rules = [...tested].flatMap(([code, tests]) => (tests.length === 0 && here.has(code) ? [code] : []))
  const trial = await tryOnTests(await openBed(), rules)
  for (const [code, tests] of trial.culprits) tested.get(code)?.push(...tests.map((id) => `${corpus.name}: ${id}`))
  together.push(...trial.together.map((id) => `${corpus.name}: ${id}`))
}

const text = renderSafeRules(
  figures.map((rule) => ({ ...rule, tests: noTests ? undefined : tested.get(rule.code) })),
  {
    corpora: benches.map(({ corpus }) => corpus.name),
    python: await ask(['python3', '-c', 'import platform; print(platform.python_version())']),
    together,
  },
)
if (only !== undefined || noTests) console.log(text)
else await writeFile(new URL('repositories/safe-rules.md', import.meta.url), text)
