import { readdir, readFile, readlink } from 'node:fs/promises'
import { until } from '#testing/until.ts'
import type { Program } from './program.ts'

/**
 * `startedAt` distinguishes a process from a later one with the same id; `name` is that of its program, 15 characters at most.
 */
export type LivingProcess = { pid: number; startedAt: string; name: string }

type ProcessState = LivingProcess & { parent: number; state: string }

/** Every process that `pid` started, and those that they started. */
export async function descendantsOf(pid: number): Promise<LivingProcess[]> {
  const all = await readProcesses()
  const found: ProcessState[] = []
  let parents = new Set([pid])
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent))
    found.push(...children)
    parents = new Set(children.map((child) => child.pid))
  }
  return found.map(({ pid: id, startedAt, name }) => ({ pid: id, startedAt, name }))
}

/** Everything a `remora run` starts, once it works: Redis and its guard, S3, a worker and its script processes. */
export async function atWork(program: Program): Promise<LivingProcess[]> {
  return until(
    async () => {
      if (!program.running()) throw new Error(`it has ended: ${program.err()}`)
      const found = await descendantsOf(program.pid)
      return found.length >= 5 && found
    },
    { withinMs: 110_000 },
  )
}

/** Those that still run. A zombie, which has ended and was not yet waited for by its parent, does not. */
export async function stillRunning(processes: readonly LivingProcess[]): Promise<number[]> {
  const states = await Promise.all(processes.map(({ pid }) => readProcess(pid)))
  return processes.flatMap(({ pid, startedAt }, at) => {
    const now = states[at]
    return now !== undefined && now.state !== 'Z' && now.startedAt === startedAt ? [pid] : []
  })
}

/** The folders in which processes of this machine run. Linux only. */
export async function workingFolders(): Promise<Set<string>> {
  const folders = await Promise.all(
    (await processIds()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)),
  )
  return new Set(folders.filter((folder) => folder !== undefined))
}

/** Ids of the processes whose command line contains `text`. */
export async function processesNaming(text: string): Promise<number[]> {
  const lines = await Promise.all(
    (await processIds()).map(async (pid) => ({ pid, line: await read(`/proc/${pid}/cmdline`) })),
  )
  return lines.flatMap(({ pid, line }) => (line?.includes(text) === true ? [pid] : []))
}

async function readProcesses(): Promise<ProcessState[]> {
  const all = await Promise.all((await processIds()).map(readProcess))
  return all.filter((one) => one !== undefined)
}

async function processIds(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
}

/** Fields 2, 3, 4 and 22 of proc(5) `stat`; the name, in brackets, may hold spaces. */
async function readProcess(pid: number): Promise<ProcessState | undefined> {
  const stat = await read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  return { pid, name, state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' }
}

function read(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

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

/** MB (10^6) of a process and all that it started; a page that several processes share counts in part (PSS). Linux only. */
export async function memoryOfTree(pid: number): Promise<number> {
  const processes = [pid, ...(await descendantsOf(pid)).map((one) => one.pid)]
  const rollups = await Promise.all(processes.map((one) => read(`/proc/${one}/smaps_rollup`)))
  return rollups.reduce((sum, text) => sum + (Number(/^Pss:\s+(\d+) kB$/m.exec(text ?? '')?.[1] ?? 0) * 1024) / 1e6, 0)
}

/** The names of a process's threads, 15 characters at most. Linux only. */
export async function threadsOf(pid: number): Promise<string[]> {
  const ids = await readdir(`/proc/${pid}/task`)
  const names = await Promise.all(ids.map((id) => read(`/proc/${pid}/task/${id}/comm`)))
  return names.flatMap((name) => name?.trim() ?? [])
}

/** The service that a command line starts; else its first word that names a script; else its program. */
function programOf(line: string): string {
  const words = line.split('\0')
  const at = words.findIndex((word) => /\.[mc]?[jt]s$/.test(word))
  const script = words[at]
  if (script?.endsWith('scripts/service.mjs') === true) return words[at + 1] ?? ''
  return (script ?? words[0]?.split(' ')[0] ?? '').split('/').slice(-2).join('/')
}
