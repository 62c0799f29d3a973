import { execFile } from 'node:child_process'
import { createWriteStream, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs, promisify } from 'node:util'
import { plainTar } from '#platform/gzipped-tar.ts'
import type { Sandbox } from '#sandbox/open-sandbox.ts'
import { type TestSandbox, testSandboxes } from '#sandbox/sandbox.fixture.ts'
import { median, saveReport, sectionHead, spread, table } from './reports/markdown-report.ts'

/**
 * `node bench/sandbox-bench.ts`: what a program costs in each sandbox that this machine has, beside the same program without it. Writes
 * results/sandbox.md; with `--quick` it only prints, of fewer rounds.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const rounds = quick ? 3 : 11
const filesOf = { none: 0, some: 200, many: 2_000 }
const fileBytes = 8_000
const limits = { wallMs: 60_000, memoryBytes: 512 * 2 ** 20, diskBytes: 512 * 2 ** 20, processes: 128 }
const never = new AbortController().signal
const run = promisify(execFile)

type Row = { what: string; ms: number[] }

async function writeBase(dir: string, count: number): Promise<string> {
  const path = join(dir, `${count}.tar`)
  const content = Buffer.alloc(fileBytes, 'x = 1\n')
  const items = Array.from({ length: count }, (_, at) => ({ path: `src/f${at}.py`, content, executable: false }))
  await pipeline(Readable.from(plainTar(items)), createWriteStream(path))
  return path
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function inSandbox(sandbox: Sandbox, command: readonly [string, ...string[]], base: string): Promise<void> {
  const { ending } = await sandbox.run({ command, files: { base: async () => openSync(base, 'r') }, limits }, never)
  if (ending.kind !== 'exited' || ending.code !== 0) throw new Error(`the program ended ${JSON.stringify(ending)}`)
}

// The system's own: another one on the PATH, which the sandbox does not have, may be slower.
const python = ['/usr/bin/python3', '-c', 'import unittest'] as const

type Bases = Record<keyof typeof filesOf, string>
type Work = [what: string, () => Promise<unknown>]

function worksIn({ name, sandbox }: TestSandbox, { none, some, many }: Bases): Work[] {
  return [
    [`\`true\` in ${name}`, () => inSandbox(sandbox, ['true'], none)],
    ['the same over 200 files', () => inSandbox(sandbox, ['true'], some)],
    ['the same over 2,000 files, 16 MB', () => inSandbox(sandbox, ['true'], many)],
    [`\`/usr/bin/python3 -c "import unittest"\` in ${name}`, () => inSandbox(sandbox, python, none)],
    ['8 of them at once', () => Promise.all(Array.from({ length: 8 }, () => inSandbox(sandbox, python, none)))],
  ]
}

/** Each round runs all rows, so that a busy moment of the machine meets all of them. */
async function measure(sandboxes: readonly TestSandbox[], dir: string): Promise<Row[]> {
  const bases = {
    none: await writeBase(dir, filesOf.none),
    some: await writeBase(dir, filesOf.some),
    many: await writeBase(dir, filesOf.many),
  }
  const works: Work[] = [
    ['`true`', () => run('true')],
    ['`/usr/bin/python3 -c "import unittest"`', () => run(python[0], python.slice(1))],
    ...sandboxes.flatMap((sandbox) => worksIn(sandbox, bases)),
  ]
  const rows = works.map(([what]): Row => ({ what, ms: [] }))
  for (const [, work] of works) await work()
  for (let round = 0; round < rounds; round++)
    for (const [at, [, work]] of works.entries()) rows[at]?.ms.push(await timed(work))
  return rows
}

function bareOf(what: string, rows: readonly Row[]): number {
  return median(rows.find((row) => row.what === what.slice(0, what.lastIndexOf(' in ')))?.ms ?? [])
}

function moreThan(bare: number, ms: readonly number[]): string {
  return `${(median(ms) - bare).toFixed(0)} ms, ${(median(ms) / bare).toFixed(1)} times`
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
try {
  const sandboxes = (await testSandboxes(process.env)).filter(({ lack }) => lack === undefined)
  const rows = await measure(sandboxes, dir)
  const bare = median(rows[0]?.ms ?? [])
  const more = median(rows.find(({ what }) => what === '`true` in bubblewrap')?.ms ?? []) - bare
  const met = more <= 60 ? 'met' : 'missed'
  const text = `${sectionHead('A program in the sandbox', { command: 'node bench/sandbox-bench.ts' })}
Sandboxes with the files as a tar that is unpacked inside, beside the same program without one. Median (least–most) of ${rounds}, in turn; each runs as
many programs at once as there are cores. Containers are measured where an engine has their image.

${table<Row>(
  [
    ['', ({ what }) => what],
    ['ms', spread(({ ms }) => ms, 0)],
    ['more than the bare program', ({ what, ms }) => (what.includes(' in ') ? moreThan(bareOf(what, rows), ms) : '')],
  ],
  rows,
)}

The aim is at most 60 ms more than the bare program in bubblewrap: ${met}, ${more.toFixed(0)} ms.
`
  await saveReport('sandbox', text, { quick })
} finally {
  await rm(dir, { recursive: true, force: true })
}
