import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { contentsText, writeLargeArchive, type ArchiveKind } from './archives/large-archive.ts'
import { measureArchive, type ArchiveFigures } from './archives/measure-archive.ts'
import { machineText } from './parts/machine-text.ts'

/**
 * `node bench/archives-bench.ts`: the most memory each process takes for an archive of 200 MB, as a tar.gz and as a zip.
 * Writes results/archives.md; with `--quick` it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values

function table(figures: readonly (readonly [string, ArchiveFigures])[]): string {
  const programs = [...new Set(figures.flatMap(([, { atEnd }]) => atEnd.map(({ program }) => program)))]
  const most = (peaks: ArchiveFigures['atEnd'], program: string) =>
    Math.max(0, ...peaks.filter((peak) => peak.program === program).map(({ peakMb }) => peakMb))
  const rows = programs.map((program) => {
    const cells = figures.map(
      ([, { atRest, atEnd }]) => `${most(atRest, program).toFixed(0)} → ${most(atEnd, program).toFixed(0)}`,
    )
    return `| ${[program, ...cells].join(' | ')} |`
  })
  const head = ['MB at rest → at the end', ...figures.map(([name]) => name)]
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n')
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
  const text = `# Memory of the services for a large archive

${machineText('node bench/archives-bench.ts', { redisVersion: figures[0]?.[1].redisVersion ?? 'unknown' })}

One run of a hundred operations on an archive of ${contentsText}.
Peak resident memory (VmHWM, MB of 10⁶ bytes) of each process, the shared pages of Node's own program included (about 60 MB each).
A worker takes what Ruff takes, compiled and at work, whatever the archive. 300 MB are 286 MiB.

${table(figures)}

${runs.map((line) => `- ${line}`).join('\n')}
`
  if (quick) console.log(text)
  else {
    const results = new URL('results/', import.meta.url)
    await mkdir(results, { recursive: true })
    await writeFile(new URL('archives.md', results), text)
  }
  process.exitCode = figures.every(([, { status }]) => status === 'completed') ? 0 : 1
} finally {
  await rm(dir, { recursive: true, force: true })
}
