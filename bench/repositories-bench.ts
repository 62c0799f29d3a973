import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { saveReport } from './reports/markdown-report.ts'
import { benchPackages } from './repositories/bench-packages.ts'
import { findHarm, findIdleness, type MeasuredPackage, measurePackage } from './repositories/measure-package.ts'
import { cacheFolder } from './repositories/prepare-package.ts'
import { renderRepositories } from './repositories/repositories-report.ts'
import { countVerdicts, drawSample, Sample } from './repositories/sample.ts'

/**
 * `node bench/repositories-bench.ts`: `remora run --agents lint,docstring` over eleven pinned packages of PyPI, and what
 * their own tests, linters and type checkers say before and after. Writes results/repositories.md and
 * repositories/sample.json. With `--packages a,b`, or `--quick` (the smallest one), it only prints. Exit code 1 when anything
 * is worse than before, or too little was done.
 */
const { packages, quick } = parseArgs({
  options: { packages: { type: 'string' }, quick: { type: 'boolean', default: false } },
}).values

// What it has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const sampleSize = 50
const named = quick ? ['pycodestyle'] : packages?.split(',')
const chosen = benchPackages.filter(({ name }) => named?.includes(name) ?? true)
if (chosen.length < (named?.length ?? 1))
  throw new Error(`there are ${benchPackages.map(({ name }) => name).join(', ')}`)

const cache = cacheFolder()
const measured: MeasuredPackage[] = []
for (const one of chosen) {
  const result = await measurePackage(one, cache)
  measured.push(result)
  await writeFile(join(cache, 'work', one.name, 'result.json'), JSON.stringify(result, null, 1))
  console.log(`${one.name}: ${findHarm(result).join('; ') || 'no harm'}`)
}

const samplePath = new URL('repositories/sample.json', import.meta.url)
const written = Sample.parse(JSON.parse(await readFile(samplePath, 'utf8')))
const hunks = measured.map(({ one, hunks: ofOne }) => ({ name: one.name, hunks: ofOne }))
const sample = drawSample(hunks, written, sampleSize)
const text = renderRepositories(measured, countVerdicts(sample))
await saveReport('repositories', text, { quick: named !== undefined })
if (named === undefined) await writeFile(samplePath, `${JSON.stringify(sample, null, 1)}\n`)
const faults = [...measured.flatMap(findHarm), ...findIdleness(measured)]
process.exitCode = faults.length === 0 ? 0 : 1
