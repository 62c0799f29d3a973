import { readFile } from 'node:fs/promises'
import { descendantsOf } from './living-processes.ts'

/** The most memory a process ever had resident, MB (10^6). Linux only. */
export type PeakMemory = { pid: number; program: string; peakMb: number }

/** Of every process that this one started, directly or not, and that still runs. */
export async function peakMemory(): Promise<PeakMemory[]> {
  const processes = await descendantsOf(process.pid)
  const peaks = await Promise.all(
    processes.map(async ({ pid }) => {
      const [status, line] = await Promise.all(
        ['status', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      )
      const kib = /^VmHWM:\s*(\d+) kB$/m.exec(status ?? '')?.[1]
      return kib === undefined ? [] : [{ pid, program: programOf(line ?? ''), peakMb: (Number(kib) * 1024) / 1e6 }]
    }),
  )
  return peaks.flat()
}

/** What a command line is of: the service it starts, or the first of its words that names a script, or the program. */
function programOf(line: string): string {
  const words = line.split('\0')
  const at = words.findIndex((word) => /\.[mc]?[jt]s$/.test(word))
  const script = words[at]
  if (script?.endsWith('scripts/service.mjs') === true) return words[at + 1] ?? ''
  return (script ?? words[0]?.split(' ')[0] ?? '').split('/').slice(-2).join('/')
}
