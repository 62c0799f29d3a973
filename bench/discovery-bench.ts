import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { findPython } from './agreement/find-python.ts'
import type { VariantFigures } from './discovery/report-variant.ts'
import { machineText } from './parts/machine-text.ts'

/**
 * `node bench/discovery-bench.ts`: discovery beside ast-grep's `findInFiles` on the same files, kinds and fields, each in
 * a fresh process, in turn. Over a copy of Python's standard library without what is installed into it. Writes
 * results/discovery.md; with `--quick`, over asyncio in one round, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const rounds = quick ? 1 : 5
const variants = ['remora', 'ast-grep'] as const

const Figures = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  files: z.number(),
  nodes: z.number(),
  peakMb: z.number(),
})

function run(variant: (typeof variants)[number], root: string): VariantFigures {
  const entry = fileURLToPath(new URL(`discovery/${variant}-variant.ts`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(process.execPath, [entry, root], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${variant} failed: ${stderr}`)
  return Figures.parse(JSON.parse(stdout))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function row(name: string, runs: readonly VariantFigures[]): string {
  const of = (field: keyof VariantFigures) => median(runs.map((one) => one[field]))
  const cells = [name, of('files'), of('nodes'), (of('wallMs') / 1000).toFixed(2), (of('cpuMs') / 1000).toFixed(2)]
  return `| ${[...cells, of('peakMb').toFixed(0)].join(' | ')} |`
}

const python = await findPython('python3')
if (python === undefined) console.log('there is no python3 here: no files to work on')
else {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  try {
    const root = join(dir, 'lib')
    const source = quick ? join(python.library, 'asyncio') : python.library
    await cp(source, root, { recursive: true, filter: (path) => !/site-packages|__pycache__|\.so$/.test(path) })
    const figures: Record<(typeof variants)[number], VariantFigures[]> = { remora: [], 'ast-grep': [] }
    for (let round = 0; round < rounds; round++) {
      for (const variant of variants) figures[variant].push(run(variant, root))
    }
    const ratios = figures.remora.map((one, at) => one.wallMs / (figures['ast-grep'][at]?.wallMs ?? Number.NaN))
    const text = `# Discovery beside ast-grep

${machineText('node bench/discovery-bench.ts', {})}

Python ${python.version}'s standard library without site-packages; medians of ${rounds} rounds in turn, each in a fresh process: the walk, reading,
parsing, query, names, ranges and lines. Remora computes ids and SHA-256 hashes besides.

| | files | definitions | wall s | CPU s | peak MB |
| --- | --- | --- | --- | --- | --- |
${row('remora discover, a thread per core', figures.remora)}
${row('@ast-grep/napi findInFiles', figures['ast-grep'])}

Wall time, remora to ast-grep: ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}); the aim is at most 1.0.
findInFiles leaves out without a word what is not UTF-8, and names no file in which it found nothing.
`
    if (quick) console.log(text)
    else await writeFile(new URL('results/discovery.md', import.meta.url), text)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
