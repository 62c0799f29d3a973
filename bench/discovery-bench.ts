import { spawnSync } from 'node:child_process'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { copyLibrary, findPython } from './agreement/python-ast.ts'
import type { VariantFigures } from './discovery/report-variant.ts'
import { type Column, median, saveReport, sectionHead, spread, table } from './reports/markdown-report.ts'

/**
 * `node bench/discovery-bench.ts`: discovery compared with ast-grep's `findInFiles` on the same files, kinds and fields,
 * each in a fresh process, in turn, and with a bare loop around the parser that both use. The files are a copy of
 * Python's standard library without installed packages. Writes results/discovery.md; with `--quick` it only
 * prints, for one round over asyncio.
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

type Variant = { name: string; of: keyof Round }
type Ratio = { name: string; ratio: (round: Round) => number; aim?: string }

function variantsTable(all: readonly Round[]): string {
  const variants: readonly Variant[] = [
    { name: 'remora discover, a thread per core', of: 'first' },
    { name: 'the same again, nothing changed', of: 'again' },
    { name: 'the same again, one file changed', of: 'one' },
    { name: '@ast-grep/napi findInFiles', of: 'peer' },
    { name: 'a bare loop around web-tree-sitter', of: 'loop' },
  ]
  const figure = ({ of }: Variant, field: keyof VariantFigures) => median(all.map((round) => round[of][field]))
  const columns: readonly Column<Variant>[] = [
    ['', ({ name }) => name],
    ['files', (variant) => figure(variant, 'files')],
    ['definitions', (variant) => figure(variant, 'nodes')],
    ['wall s', (variant) => (figure(variant, 'wallMs') / 1000).toFixed(2)],
    ['CPU s', (variant) => (figure(variant, 'cpuMs') / 1000).toFixed(2)],
    ['peak MB', (variant) => figure(variant, 'peakMb').toFixed(0)],
  ]
  return table(columns, variants)
}

function ratiosTable(all: readonly Round[]): string {
  const rows: readonly Ratio[] = [
    { name: 'remora to ast-grep', ratio: ({ first, peer }) => first.wallMs / peer.wallMs, aim: '≤ 1.0' },
    { name: 'remora to the bare loop', ratio: ({ first, loop }) => first.wallMs / loop.wallMs, aim: '≤ 1.05' },
    { name: 'remora to the bare loop, CPU time', ratio: ({ first, loop }) => first.cpuMs / loop.cpuMs, aim: '≤ 1.05' },
    { name: 'the bare loop to ast-grep', ratio: ({ loop, peer }) => loop.wallMs / peer.wallMs },
    {
      name: 'the first discovery to the second',
      ratio: ({ first, again }) => first.wallMs / again.wallMs,
      aim: '≥ 20',
    },
    {
      name: 'the first discovery to that of one changed file',
      ratio: ({ first, one }) => first.wallMs / one.wallMs,
    },
  ]
  const columns: readonly Column<Ratio>[] = [
    ['wall time, unless it says CPU', ({ name }) => name],
    ['median (least–most)', spread(({ ratio }) => all.map(ratio), 2)],
    ['aim', ({ aim }) => aim ?? ''],
  ]
  return table(columns, rows)
}

const python = await findPython('python3')
if (python === undefined) console.log('there is no python3 here: no files to work on')
else {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  try {
    const root = join(dir, 'lib')
    await copyLibrary(quick ? join(python.library, 'asyncio') : python.library, root)
    const all: Round[] = []
    for (let round = 0; round < rounds; round++) all.push(await runRound(dir, root, round))
    const text = `${sectionHead('Discovery compared with ast-grep', { command: 'node bench/discovery-bench.ts' })}
Python ${python.version}'s standard library without site-packages; medians of ${rounds} rounds in turn, each in a fresh process.
Remora computes ids and SHA-256 hashes besides. The bare loop has web-tree-sitter on as many threads read, parse and run one query: what is
above it is ours.

${variantsTable(all)}

${ratiosTable(all)}

findInFiles leaves out without a word what is not UTF-8, and names no file in which it found nothing.
`
    await saveReport('discovery', text, { quick })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
