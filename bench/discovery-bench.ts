import { spawnSync } from 'node:child_process'
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { findPython } from './agreement/python-ast.ts'
import type { VariantFigures } from './discovery/report-variant.ts'
import { machineText } from './reports/markdown-report.ts'

/**
 * `node bench/discovery-bench.ts`: discovery beside ast-grep's `findInFiles` on the same files, kinds and fields, each in
 * a fresh process, in turn, and beside a bare loop around the parser that both are made of. Over a copy of Python's
 * standard library without what is installed into it. Writes results/discovery.md; with `--quick`, over asyncio in one
 * round, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const rounds = quick ? 1 : 5

const Figures = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  files: z.number(),
  nodes: z.number(),
  peakMb: z.number(),
})

function run(entry: 'remora' | 'ast-grep' | 'parser-loop', ...args: string[]): VariantFigures {
  const file = fileURLToPath(new URL(`discovery/${entry}-variant.ts`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${entry} failed: ${stderr}`)
  return Figures.parse(JSON.parse(stdout))
}

type Round = {
  first: VariantFigures
  again: VariantFigures
  one: VariantFigures
  peer: VariantFigures
  loop: VariantFigures
}

/** The index of the first discovery serves the second, and after one file has changed the third. */
async function runRound(dir: string, root: string, round: number): Promise<Round> {
  const index = join(dir, `index-${round}`)
  await delay(3000) // what changed less than two seconds ago is parsed again
  const first = run('remora', root, index)
  const peer = run('ast-grep', root)
  const loop = run('parser-loop', root)
  const again = run('remora', root, index)
  await appendFile(join(root, quick ? 'events.py' : 'argparse.py'), `# ${round}\n`)
  const one = run('remora', root, index)
  return { first, again, one, peer, loop }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function row(name: string, runs: readonly VariantFigures[]): string {
  const of = (field: keyof VariantFigures) => median(runs.map((one) => one[field]))
  const cells = [name, of('files'), of('nodes'), (of('wallMs') / 1000).toFixed(2), (of('cpuMs') / 1000).toFixed(2)]
  return `| ${[...cells, of('peakMb').toFixed(0)].join(' | ')} |`
}

function ratioRow(name: string, all: readonly Round[], ratio: (round: Round) => number, aim: string): string {
  const ratios = all.map(ratio)
  return `| ${name} | ${median(ratios).toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(', ')}) | ${aim} |`
}

const python = await findPython('python3')
if (python === undefined) console.log('there is no python3 here: no files to work on')
else {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  try {
    const root = join(dir, 'lib')
    const source = quick ? join(python.library, 'asyncio') : python.library
    await cp(source, root, { recursive: true, filter: (path) => !/site-packages|__pycache__|\.so$/.test(path) })
    const all: Round[] = []
    for (let round = 0; round < rounds; round++) all.push(await runRound(dir, root, round))
    const of = (name: keyof Round) => all.map((one) => one[name])
    const text = `# Discovery beside ast-grep

${machineText('node bench/discovery-bench.ts', {})}

Python ${python.version}'s standard library without site-packages; medians of ${rounds} rounds in turn, each in a fresh process: the walk, reading,
parsing, query, names, ranges and lines. Remora computes ids and SHA-256 hashes besides. The bare loop has web-tree-sitter
on as many threads do nothing but read, parse, and run one query: what is above it is ours.

| | files | definitions | wall s | CPU s | peak MB |
| --- | --- | --- | --- | --- | --- |
${row('remora discover, a thread per core', of('first'))}
${row('the same again, nothing changed', of('again'))}
${row('the same again, one file changed', of('one'))}
${row('@ast-grep/napi findInFiles', of('peer'))}
${row('a bare loop around web-tree-sitter', of('loop'))}

| wall time | median (of each round) | aim |
| --- | --- | --- |
${ratioRow('remora to ast-grep', all, ({ first, peer }) => first.wallMs / peer.wallMs, '≤ 1.0')}
${ratioRow('remora to the bare loop', all, ({ first, loop }) => first.wallMs / loop.wallMs, '')}
${ratioRow('the bare loop to ast-grep', all, ({ loop, peer }) => loop.wallMs / peer.wallMs, '')}
${ratioRow('the first discovery to the second', all, ({ first, again }) => first.wallMs / again.wallMs, '≥ 20')}
${ratioRow('the first discovery to that of one changed file', all, ({ first, one }) => first.wallMs / one.wallMs, '')}

findInFiles leaves out without a word what is not UTF-8, and names no file in which it found nothing.
`
    if (quick) console.log(text)
    else await writeFile(new URL('results/discovery.md', import.meta.url), text)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
