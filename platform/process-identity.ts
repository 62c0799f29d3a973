import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { runProgram } from './run-program.ts'

/** `startedAt` tells a process from a later one with the same id. Where it is empty, the process never counts as alive. */
export const ProcessIdentity = z.object({ pid: z.int().positive(), startedAt: z.string() })
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

const psMs = 2_000

export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, startedAt: await startTime(pid) }
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  if (!answersSignal(process.pid)) return false
  return process.startedAt !== '' && (await startTime(process.pid)) === process.startedAt
}

function answersSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function startTime(pid: number): Promise<string> {
  const [stat, boot] = await Promise.all([read(`/proc/${pid}/stat`), read('/proc/sys/kernel/random/boot_id')])
  const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  if (boot !== '') return ticks === '' ? '' : `${ticks} of ${boot.trim()}`
  const command = ['ps', '-o', 'lstart=', '-p', String(pid)] as const
  const ran = await runProgram(command, { limitMs: psMs, signal: new AbortController().signal, env: {} })
  return ran.kind === 'ended' ? ran.out.trim() : ''
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
