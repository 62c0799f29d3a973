import { after } from '#platform/clock.ts'

export type Terminal = { write(text: string): unknown; columns?: number; rows?: number }

export type LiveScreen = {
  /** Shows `lines` in place of the last ones: at once, or as soon as the frame limit allows. */
  draw(lines: () => string[]): void
  /** Draws the last lines if they are outstanding, shows the cursor again and leaves the lines on the terminal. */
  close(): void
}

const frameMs = 100
const hideCursor = '\u001B[?25l'
const showCursor = '\u001B[?25h'

/**
 * Redraws a few lines in place, at most ten times a second. A frame is one write that overwrites line by line and clears only
 * what is left over, so nothing flickers. It never scrolls: lines that do not fit above the cursor are left out.
 */
export function openLiveScreen(terminal: Terminal): LiveScreen {
  let drawn = 0
  let lastFrameAt = -Infinity
  let pending: (() => string[]) | undefined
  let cancelTimer = () => {}

  const frame = () => {
    if (pending === undefined) return
    const lines = pending().slice(0, Math.max(1, (terminal.rows ?? 24) - 1))
    pending = undefined
    terminal.write(frameText(lines, drawn))
    drawn = lines.length
    lastFrameAt = performance.now()
  }
  return {
    draw(lines) {
      const scheduled = pending !== undefined
      pending = lines
      const waitMs = lastFrameAt + frameMs - performance.now()
      if (waitMs <= 0) return frame()
      if (!scheduled) cancelTimer = after(waitMs, frame)
    },
    close() {
      cancelTimer()
      frame()
      terminal.write(showCursor)
    },
  }
}

function frameText(lines: readonly string[], drawnBefore: number): string {
  const up = drawnBefore === 0 ? '' : `\u001B[${drawnBefore}A`
  return `${hideCursor}\r${up}${lines.map((line) => `${line}\u001B[K\n`).join('')}\u001B[J`
}
