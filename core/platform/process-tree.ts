import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** The processes that any thread of a process has started; none when it has ended, or where the system has no /proc. */
export function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.flatMap((thread) => numbersIn(readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')))
  } catch {
    return []
  }
}

function numbersIn(text: string): number[] {
  return text.split(' ').filter(Boolean).map(Number)
}

/**
 * Kills a process and the processes that it has started itself. Those of bwrap end with it only once they have asked the kernel for
 * that; of one that is still starting they would stay behind, hold its pipes open, and run without limits. It is stopped first, so that
 * it cannot start another one between the look at them and its own end.
 */
export function killWithChildren(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  child.kill('SIGSTOP')
  for (const own of childrenOf(pid)) killUnlessEnded(own)
  child.kill('SIGKILL')
}

function killUnlessEnded(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
