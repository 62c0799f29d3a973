import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { openAsBlob } from 'node:fs'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { type Column, saveReport, sectionHead, table } from './reports/markdown-report.ts'
import { rawTar } from '#stages/snapshot/raw-tar.fixture.ts'
import { rawZip } from '#stages/snapshot/raw-zip.fixture.ts'
import { peakMemory, type PeakMemory } from '../tests/living-processes.ts'
import { openPrograms } from '../tests/program.ts'
import { startServices, startStores } from '../tests/services.ts'
import { redisVersion } from './ledger/bench-ledger.ts'

/**
 * `node bench/archives-bench.ts`: the peak memory of each process for an archive of 200 MB, as a tar.gz and as a zip.
 * Writes results/archives.md; with `--quick` it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values

function peaksTable(figures: readonly (readonly [string, ArchiveFigures])[]): string {
  const programs = [...new Set(figures.flatMap(([, { atEnd }]) => atEnd.map(({ program }) => program)))]
  const most = (peaks: ArchiveFigures['atEnd'], program: string) =>
    Math.max(0, ...peaks.filter((peak) => peak.program === program).map(({ peakMb }) => peakMb)).toFixed(0)
  const columns = figures.map(([name, { atRest, atEnd }]): Column<string> => {
    return [name, (program) => `${most(atRest, program)} → ${most(atEnd, program)}`]
  })
  return table([['MB at rest → at the end', (program) => program], ...columns], programs)
}

type ArchiveFigures = {
  redisVersion: string
  bytes: number
  status: string
  seconds: number
  /** Before the archive was sent, and when its run had ended. */
  atRest: PeakMemory[]
  atEnd: PeakMemory[]
}

const Accepted = z.object({ run_id: z.string() })

/** One run of a hundred operations on the archive at `path`, over services and stores that were started for it. */
async function measureArchive(path: string): Promise<ArchiveFigures> {
  const programs = openPrograms()
  const stores = await startStores()
  try {
    const { api } = await startServices(programs, stores)
    const atRest = await peakMemory()
    const archive = await openAsBlob(path)
    const form = new FormData()
    form.set('request', JSON.stringify({ agents: ['lint'], limits: { operations: 100 } }))
    form.set('archive', archive, 'archive')
    const startedAt = performance.now()
    const answer = await api.ask('/v1/runs', { method: 'POST', body: form })
    const { status } = await api.follow(Accepted.parse(await answer.json()).run_id)
    const seconds = (performance.now() - startedAt) / 1000
    return {
      redisVersion: await versionOf(stores.redisUrl),
      bytes: archive.size,
      status,
      seconds,
      atRest,
      atEnd: await peakMemory(),
    }
  } finally {
    await programs.end()
    await stores.stop()
  }
}

async function versionOf(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl)
  try {
    return await redisVersion(redis)
  } finally {
    redis.disconnect()
  }
}

const mib = 1024 * 1024
const folders = 30
const filesPerFolder = 100
const sourcesPerFolder = 10

type ArchiveKind = 'tar.gz' | 'zip'

const contentsText =
  `${folders * filesPerFolder} files of 45 kB that do not compress, one of 63 MiB, and ` +
  `${folders * sourcesPerFolder} Python files of 1 kB`

/** Writes an archive of about 200 MB into `folder` and returns its path. */
async function writeLargeArchive(folder: string, kind: ArchiveKind): Promise<string> {
  const path = join(folder, `large.${kind}`)
  const files = [{ name: 'large.bin', content: randomBytes(63 * mib) }, ...smallFiles()]
  await writeFile(path, kind === 'zip' ? rawZip(files) : gzipSync(rawTar(files), { level: 1 }))
  return path
}

function smallFiles(): { name: string; content: Buffer }[] {
  const numbers = Array.from({ length: folders * filesPerFolder }, (_value, at) => at)
  return numbers.flatMap((at) => {
    const folder = `part${at % folders}`
    const data = { name: `${folder}/data${at}.bin`, content: randomBytes(45_000) }
    if (Math.floor(at / folders) >= sourcesPerFolder) return [data]
    const source = `def function_${at}(x):\n    return x + ${at}\n`.repeat(25)
    return [data, { name: `${folder}/module${at}.py`, content: Buffer.from(source) }]
  })
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
try {
  const figures: [string, ArchiveFigures][] = []
  for (const kind of ['tar.gz', 'zip'] satisfies ArchiveKind[]) {
    const path = await writeLargeArchive(dir, kind)
    figures.push([kind, await measureArchive(path)])
    await rm(path)
  }
  const runs = figures.map(
    ([name, { bytes, status, seconds }]) =>
      `${name}: ${(bytes / 1e6).toFixed(0)} MB, ${status} in ${seconds.toFixed(0)} s`,
  )
  const origin = { command: 'node bench/archives-bench.ts', redisVersion: figures[0]?.[1].redisVersion ?? 'unknown' }
  const text = `${sectionHead('Memory of the services for a large archive', origin)}
One run of a hundred operations on an archive of ${contentsText}.
Peak resident memory (VmHWM, MB of 10⁶ bytes) of each process, the shared pages of Node's own program included (about 60 MB each).

${peaksTable(figures)}

${runs.map((line) => `- ${line}`).join('\n')}
`
  await saveReport('archives', text, { quick })
  process.exitCode = figures.every(([, { status }]) => status === 'completed') ? 0 : 1
} finally {
  await rm(dir, { recursive: true, force: true })
}
