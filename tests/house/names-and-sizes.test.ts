import { basename } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { isTestFile, productFiles, readSources, type Source } from './source-files.ts'

const forbiddenNames = /^(?:utils?|helpers?|types|interfaces|index|common|misc|lib)$/
const forbiddenWord = /(?:^|-)(?:manager|helper|util)s?(?:-|$)/
const forbiddenIdentifier = /(?:Manager|Helper|Util|^manager|^helper|^util)s?(?:[A-Z]|$)/
/** Entry points, the commands of the CLI, which have the name that a user types, and what a service reads of each agent. */
const namedByRule = /(?:^|\/)main\.ts$|^cli\/commands\/|^agents\/\w+\/host\/\w+\.ts$/

/** Names that say nothing: of a file, of a folder on its path, or of an export. */
function nameViolations({ path, exportedNames }: Pick<Source, 'path' | 'exportedNames'>): string[] {
  const words = path.split('/').map((part) => part.replace(/\..*$/, ''))
  const bad = words.filter((word) => forbiddenNames.test(word) || forbiddenWord.test(word))
  return [
    ...bad.map((word) => `${path}: "${word}" names no idea`),
    ...exportedNames.filter((name) => forbiddenIdentifier.test(name)).map((name) => `${path} exports ${name}`),
  ]
}

describe('names', () => {
  const files = readSources()

  it.each(['domain/utils.ts', 'cli/run-helper.ts', 'services/common/a.ts', 'models/job-manager.ts'])(
    'refuse %s',
    (path) => {
      expect(nameViolations({ path, exportedNames: [] })).toHaveLength(1)
    },
  )

  it('refuse exports that say nothing, and take those that hold such a word as a part', () => {
    expect(nameViolations({ path: 'domain/a.ts', exportedNames: ['RunManager', 'toUtil', 'helperOf'] })).toHaveLength(3)
    expect(nameViolations({ path: 'domain/utility-rules.ts', exportedNames: ['managed', 'utilisation'] })).toEqual([])
  })

  it('say something in every file', () => {
    expect(files.flatMap(nameViolations)).toEqual([])
  })

  it('are those of one file of the product each', () => {
    const paths = new Map<string, string[]>()
    for (const path of productFiles()) {
      if (isTestFile(path) || namedByRule.test(path)) continue
      paths.set(basename(path), [...(paths.get(basename(path)) ?? []), path])
    }
    expect([...paths.values()].filter((same) => same.length > 1)).toEqual([])
  })

  it('print how near the aims are', () => {
    const lines = aims(files)
    for (const line of lines) process.stdout.write(`\naim: ${line}\n`)
    expect(lines).toHaveLength(3)
  })
})

/** Aims of CONTRIBUTING.md, not limits. */
function aims(files: readonly Source[]): string[] {
  const sources = files.filter(({ path }) => !isTestFile(path))
  const ordered = sources.map(({ lines }) => lines).toSorted((one, other) => one - other)
  const quantile = (share: number) => ordered[Math.floor(share * (ordered.length - 1))] ?? 0
  const importers = new Map<string, number>()
  for (const { imports } of sources)
    for (const { target } of imports) importers.set(target, (importers.get(target) ?? 0) + 1)
  const crumbs = sources.filter(({ path, lines }) => lines < 30 && importers.get(path) === 1)
  const source = sum(ordered)
  const test = sum(files.filter(({ path }) => isTestFile(path)).map(({ lines }) => lines))
  return [
    `${ordered.length} source files, median ${quantile(0.5)} lines (70 to 110), p90 ${quantile(0.9)} (≤ 220)`,
    `${crumbs.length} source files of under 30 lines with one importer (0)`,
    `${test} lines of test for ${source} of source, ${(test / Math.max(1, source)).toFixed(2)} (1 to 2)`,
  ]
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
