import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { killGroup } from './run-program.ts'

/** Returns the processes that any thread of a process has started; none when it has ended, or where the system has no /proc. */
export function childrenOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  const threads = orNothing(() => readdirSync(tasks)) ?? []
  return threads.flatMap((thread) => {
    const text = orNothing(() => readFileSync(`${tasks}/${thread}/children`, 'utf8')) ?? ''
    return text.split(' ').filter(Boolean).map(Number)
  })
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Kills a process that leads a group and what it has started, stopped first: children of a bwrap may outlive it. */
export function killWithChildren(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  child.kill('SIGSTOP')
  for (const own of childrenOf(pid)) killUnlessEnded(own)
  killGroup(pid, 'SIGKILL')
  child.kill('SIGKILL')
}

function killUnlessEnded(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
