import { formatSeconds } from '../format-seconds.ts'
import { openLiveScreen, type Terminal } from '../progress/live-screen.ts'
import type { ProbeResult } from './run-probe.ts'

export type HarnessProgress = { tell(result: ProbeResult): void; close(): void }

/** One line on a terminal, in place; nothing in a pipe. */
export function openProgress(total: number, terminal: Terminal | undefined): HarnessProgress {
  if (terminal === undefined) return { tell: () => undefined, close: () => undefined }
  const screen = openLiveScreen(terminal)
  const start = performance.now()
  let ended = 0
  let called = 0
  const line = () => [
    `[${formatSeconds(performance.now() - start)}] ${ended}/${total} agents, called ${(called / Math.max(1, ended)).toFixed(3)}`,
  ]
  screen.draw(line)
  return {
    tell({ verdict }) {
      ended += 1
      if (verdict.called) called += 1
      screen.draw(line)
    },
    close: () => screen.close(),
  }
}
