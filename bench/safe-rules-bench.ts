import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchPackages } from './repositories/bench-packages.ts'
import { cacheFolder, preparePackage } from './repositories/prepare-package.ts'
import { runCommand } from './repositories/run-command.ts'
import { readCandidates } from './repositories/safe-rules/candidate-rules.ts'
import { measureCorpus } from './repositories/safe-rules/measure-corpus.ts'
import { proveList, renderSafeList, type ListProof } from './repositories/safe-rules/prove-list.ts'
import { joinLooks, type Looks, renderSafeRules, safeRulesJson } from './repositories/safe-rules/safe-rules-report.ts'
import { lookAgain } from './repositories/safe-rules/second-look.ts'
import { libraryBench, packageBench, type Bench } from './repositories/safe-rules/test-beds.ts'

/**
 * `node bench/safe-rules-bench.ts`: which fixes of Ruff lose no comment and change no test, over the packages of the
 * `repositories` bench and the standard library of `python3`. Writes repositories/safe-rules.md, the ground of the
 * product's list of safe rules, and safe-rules.json with the figures of each rule. `--only a,b` takes some of them (`library` is the standard library), and only prints.
 * Takes hours the first time; what was measured is in the cache. With `--list` it makes the fixes of the product's list
 * alone, all at once, and writes repositories/safe-list.md: which tests of which corpus they change.
 */
const { only, list } = parseArgs({
  options: { only: { type: 'string' }, list: { type: 'boolean', default: false } },
}).values

// What it has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const cache = cacheFolder()
const [anyPackage] = benchPackages
if (anyPackage === undefined) throw new Error('there is no package')
const ruff = join((await preparePackage(anyPackage, cache)).python, '..', 'ruff')
const isChosen = (name: string) => only?.split(',').includes(name) ?? true

async function ask(argv: readonly [string, ...string[]]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }
  const { out } = await runCommand({ argv, cwd: cache, env, limitMs: 60_000, logFile: join(cache, 'log', 'ask') })
  return out.trim()
}

async function openLibrary(): Promise<Bench> {
  const program = 'import sys, sysconfig; print(sys.base_prefix); print(sysconfig.get_path("stdlib"))'
  const [prefix = '', stdlib = ''] = (await ask(['python3', '-c', program])).split('\n')
  return libraryBench({ prefix, library: stdlib.slice(prefix.length), ruff }, cache)
}

async function openBenches(): Promise<(() => Promise<Bench>)[]> {
  const packages = benchPackages.filter(({ name }) => isChosen(name)).map((one) => () => packageBench(one, cache))
  return isChosen('library') ? [...packages, openLibrary] : packages
}

async function tryList(): Promise<void> {
  const proofs: ListProof[] = []
  for (const open of await openBenches()) proofs.push(await proveList(await open()))
  const text = renderSafeList(proofs)
  if (only === undefined) await writeFile(new URL('repositories/safe-list.md', import.meta.url), text)
  else console.log(text)
}

async function tryEveryRule(): Promise<void> {
  const candidates = readCandidates(await ask([ruff, 'rule', '--all', '--output-format', 'json']))
  const codes = candidates.map(({ code }) => code)
  const measured: Looks[] = []
  for (const one of benchPackages.filter(({ name }) => isChosen(name))) {
    const bench = await packageBench(one, cache)
    const first = await measureCorpus(bench, codes)
    measured.push({ first, second: await lookAgain(bench, first, one.linter.tool === 'ruff') })
  }
  if (isChosen('library')) {
    const bench = await openLibrary()
    const first = await measureCorpus(bench, codes)
    measured.push({ first, second: await lookAgain(bench, first, false) })
  }

  const rules = joinLooks(candidates, measured)
  const text = renderSafeRules(rules, {
    corpora: measured.map(({ first: { name } }) => name),
    python: await ask(['python3', '-c', 'import platform; print(platform.python_version())']),
    together: measured.flatMap(({ first: { name, together } }) => together.map((id) => `${name}: ${id}`)),
  })
  if (only !== undefined) return console.log(text)
  await writeFile(new URL('repositories/safe-rules.md', import.meta.url), text)
  await writeFile(new URL('repositories/safe-rules.json', import.meta.url), safeRulesJson(rules))
}

await (list ? tryList() : tryEveryRule())
