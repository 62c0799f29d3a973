import { after } from '#platform/clock.ts'
import { openSignalFilter } from './signal-filter.ts'

type Closing = { name: string; close: () => Promise<void> }

export type Releaser = { add(name: string, close: () => Promise<void>): void; release(): Promise<void> }

/**
 * Closes what was opened, last opened first, each at most once. Every one is tried even when another fails; the first
 * failure is thrown at the end.
 */
export function openReleaser(): Releaser {
  const open: Closing[] = []
  return {
    add: (name, close) => void open.push({ name, close }),
    async release() {
      const failures: unknown[] = []
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        await next.close().catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

/**
 * Runs `close` on the first SIGTERM or SIGINT and exits 0; a close that fails or takes longer than `limitMs` exits 1.
 * A second signal, that is no echo of the first, exits at once with 130.
 */
export function exitOnSignal(close: () => Promise<void>, limitMs = 30_000): void {
  const tell = openSignalFilter()
  const stop = () => {
    const told = tell()
    if (told === 'again') process.exit(130)
    if (told === 'echo') return
    after(limitMs, () => process.exit(1))
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/**
 * Ends this process, after `close`, when the one that started it goes away (its IPC channel closes), so no orphan is left;
 * also when it has gone before this is called.
 */
export function stopWithParent(close: () => Promise<void>): void {
  if (process.send === undefined) return
  const end = () => void close().finally(() => process.exit(0))
  if (process.connected) process.once('disconnect', end)
  else end()
}
