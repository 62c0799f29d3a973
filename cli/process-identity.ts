import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** `startedAt` tells a process from a later one that was given the same id; empty where the system does not say. */
export const ProcessIdentity = z.object({ pid: z.int().positive(), startedAt: z.string() })
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

/** How the process that has `pid` now is known to other processes, also later. */
export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, startedAt: await startTime(pid) }
}

/** Whether that very process still runs. */
export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  if (!answersSignal(process.pid)) return false
  return (await startTime(process.pid)) === process.startedAt
}

function answersSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Clock ticks since boot, field 22 of proc(5) `stat`; the name before it, in brackets, may hold spaces. */
async function startTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
