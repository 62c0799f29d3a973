import { readdirSync, readFileSync } from 'node:fs'

/** CPU of a process (its main thread apart, too) and of its children, user and system, in ms since they started. */
export type ProcessCpu = { own: number; mainThread: number; children: number }

/** /proc counts in ticks of USER_HZ, which is 100 on every Linux. */
const msPerTick = 10

/** Reads /proc, so on Linux only. All threads count; a child that has ended counts once its parent has waited for it. */
export function processCpu(pid: number): ProcessCpu {
  const own = statOf(`${pid}`)
  if (own === undefined) throw new Error(`process ${pid} has ended`)
  const children = childrenOf(pid).reduce((sum, child) => sum + (statOf(`${child}`)?.ownMs ?? 0), own.waitedForMs)
  return { own: own.ownMs, mainThread: statOf(`${pid}/task/${pid}`)?.ownMs ?? 0, children }
}

export function cpuBetween(before: ProcessCpu, after: ProcessCpu): ProcessCpu {
  return {
    own: after.own - before.own,
    mainThread: after.mainThread - before.mainThread,
    children: after.children - before.children,
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const candidate = Number(name)
    return Number.isInteger(candidate) && statOf(name)?.parent === pid ? [candidate] : []
  })
}

/** Undefined: the process has gone. The name in parentheses may hold anything, so fields are counted after it. */
function statOf(place: string): { parent: number; ownMs: number; waitedForMs: number } | undefined {
  const text = readText(`/proc/${place}/stat`)
  if (text === undefined) return undefined
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (from: number) => ((fields[from] ?? 0) + (fields[from + 1] ?? 0)) * msPerTick
  return { parent: fields[1] ?? 0, ownMs: ticks(11), waitedForMs: ticks(13) }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
