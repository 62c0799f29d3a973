import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, readFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { msSince, delay } from '#platform/clock.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { killWithChildren, childrenOf } from '#platform/process-tree.ts'
import { bubblewrapArgs, descriptors, ownFiles, type SystemMounts } from './bubblewrap.ts'
import { changesOf, type ProgramResult, type SandboxedProgram, type StopReason } from './sandboxed-program.ts'
import { systemCallFilter } from './system-call-filter.ts'
import { watchProgram } from './watch-program.ts'

export type Bubblewrap = { path: string; mounts: SystemMounts; isRoot: boolean }

/** Is the user in place of root, for whom limits on processes do not hold, and whose files are not a program's to read. */
const nobody = 65_534

/** Runs a program in a sandbox of its own. TOOL_005 where bwrap does not work, and the reason of `signal`; everything else is a result. */
export async function runInBubblewrap(
  program: SandboxedProgram,
  { path, mounts, isRoot }: Bubblewrap,
  signal: AbortSignal,
): Promise<ProgramResult> {
  signal.throwIfAborted()
  const { files, limits } = program
  const start = performance.now()
  const filter = systemCallFilter()
  const base = await files.base?.()
  try {
    signal.throwIfAborted()
    const child = spawn(path, bubblewrapArgs(program, mounts), {
      cwd: '/',
      env: {},
      detached: true,
      stdio: [
        'pipe',
        'pipe',
        'pipe',
        base ?? 'ignore',
        'pipe',
        'pipe',
        program.result === undefined ? 'ignore' : 'pipe',
        'pipe',
      ],
      ...(isRoot ? { uid: nobody, gid: nobody } : {}),
    })
    const { pid } = child
    for (const [descriptor, content] of [...ownFiles, [descriptors.filter, filter] as const]) {
      const file = child.stdio.at(descriptor)
      if (file instanceof Writable) file.on('error', () => {}).end(content)
    }
    const passing = passOn(child, program.result)
    const launched = {
      child,
      input: plainTar(changesOf(files)),
      // Its child is the first process of the sandbox, with which all others end.
      kill: () => killWithChildren(child),
      watch: (stop: (why: StopReason) => void) =>
        pid === undefined ? () => {} : watchProcesses(pid, (use) => overuse(use, limits, stop)),
    }
    const { isWhole: _, ...ended } = await watchProgram(launched, limits, signal)
    await passing
    return { ...ended, durationMs: msSince(start) }
  } finally {
    if (base !== undefined) closeSync(base)
  }
}

function overuse(
  { processes, bytes }: ProcessUse,
  limits: SandboxedProgram['limits'],
  stop: (why: StopReason) => void,
) {
  if (bytes > limits.memoryBytes) stop('memory')
  // bwrap itself, the first process of the sandbox and its shell are not the program's.
  else if (processes > limits.processes + 3) stop('processes')
}

async function passOn(child: ChildProcess, result: Writable | undefined): Promise<void> {
  const from = child.stdio.at(descriptors.result)
  if (result !== undefined && from instanceof Readable) await pipeline(from, result).catch(() => {})
}

type ProcessUse = { processes: number; bytes: number }

const pollMs = 50
/** A look at many processes takes milliseconds of the loop that renews leases: it is rested for so many times as long. */
const restShare = 20
/** No more are counted: that many are over any limit that they could be under. */
const mostCounted = 5_000
const kibibyte = 1024

/** Calls `onUse` every 50 ms with what the process and its descendants use, until the returned function is called. Files count while mapped. */
function watchProcesses(pid: number, onUse: (use: ProcessUse) => void): () => void {
  const stop = new AbortController()
  void watchUntil(stop.signal, () => onUse(useOf(pid)))
  return () => stop.abort()
}

async function watchUntil(signal: AbortSignal, look: () => void): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now()
    look()
    await delay(Math.max(pollMs, restShare * msSince(start)), signal).catch(() => undefined)
  }
}

function useOf(root: number): ProcessUse {
  const use = { processes: 0, bytes: 0 }
  const rest = [root]
  for (let pid = rest.pop(); pid !== undefined && use.processes < mostCounted; pid = rest.pop()) {
    use.processes += 1
    use.bytes += residentBytes(pid)
    rest.push(...childrenOf(pid))
  }
  return use
}

function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const sizes = status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)
    return sizes.reduce((sum, [, kibibytes]) => sum + Number(kibibytes), 0) * kibibyte
  } catch {
    return 0
  }
}
