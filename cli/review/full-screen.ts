import type { CommandIo, Interactive } from '../cli-context.ts'
import { type KeyEvents, readKeys } from './read-keys.ts'
import type { Size } from './review-state.ts'

/** The whole terminal, until it is closed. */
export type FullScreen = {
  size(): Size
  /** All lines from the top. A line that is too wide is cut by the terminal and never moves the others. */
  draw(lines: readonly string[]): void
  /** The terminal is as it was before while `use` runs, and Ctrl-C is not for us; then the screen is taken again, and empty. */
  lend<T>(use: () => Promise<T>): Promise<T>
  /** Gives the terminal back as it was, once whoever has borrowed it is done. Harmless when that was done. */
  close(): Promise<void>
}

export type ScreenEvents = KeyEvents & { onResize(size: Size): void }

// The other screen, no cursor, no wrapping of lines, and marks around what is pasted.
const enter = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[?2004h'
const leave = '\u001B[?2004l\u001B[?7h\u001B[?25h\u001B[?1049l'

/** A terminal that does not know its size counts as this large. */
const usual = { columns: 80, rows: 24 }

/** Takes the terminal. It is given back at the latest when the process exits, however that comes. */
export function openFullScreen(terminal: Interactive, events: ScreenEvents): FullScreen {
  const { output } = terminal
  const size = () => ({ columns: output.columns || usual.columns, rows: output.rows || usual.rows })
  const resized = () => events.onResize(size())
  const hold = openHold(terminal, events)
  let isClosed = false
  let lent = Promise.resolve()
  hold.take()
  output.on('resize', resized)
  process.once('exit', hold.giveBack)
  return {
    size,
    draw(lines) {
      if (hold.isTaken()) output.write(lines.map((line, at) => `\u001B[${at + 1};1H\u001B[2K${line}`).join(''))
    },
    async lend(use) {
      hold.giveBack()
      const listenAgain = ignoreInterrupts()
      const { promise, resolve } = Promise.withResolvers<void>()
      lent = promise
      try {
        return await use()
      } finally {
        listenAgain()
        if (!isClosed) hold.take()
        resized()
        resolve()
      }
    },
    async close() {
      isClosed = true
      hold.giveBack()
      await lent
      output.off('resize', resized)
      process.off('exit', hold.giveBack)
    },
  }
}

/** A terminal that waits for its screen. */
export type HeldTerminal = {
  /** Replaces the text with what is printed on stderr meanwhile. */
  err(text: string): void
  /** Ends it. Harmless when that was done. */
  release(): void
}

/** Until there is a screen: shows `text`, and takes no keys but Ctrl-C: none is echoed, or left for the screen. */
export function holdTerminal({ input, output }: Interactive, text: string, io: CommandIo): HeldTerminal {
  let isHeld = true
  const typed = (chunk: Buffer) => {
    if (chunk.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
  }
  input.setRawMode(true)
  input.on('data', typed)
  output.write(`${text}\r`)
  return {
    err(printed) {
      if (isHeld) output.write(emptyLine)
      io.err(printed)
    },
    release() {
      if (!isHeld) return
      isHeld = false
      output.write(emptyLine)
      input.off('data', typed)
      input.setRawMode(false)
      input.pause()
    },
  }
}

const ctrlC = '\u0003'
const emptyLine = '\u001B[2K'

function openHold({ input, output }: Interactive, events: KeyEvents) {
  const keys = readKeys(input, events)
  let isTaken = false
  return {
    isTaken: () => isTaken,
    take() {
      isTaken = true
      input.setRawMode(true)
      keys.start()
      input.resume()
      output.write(enter)
    },
    giveBack() {
      if (!isTaken) return
      isTaken = false
      output.write(leave)
      keys.stop()
      input.setRawMode(false)
      input.pause()
    },
  }
}

/** Ctrl-C in a pager ends a search there. The terminal sends it to this process as well, which is not to end by it. */
function ignoreInterrupts(): () => void {
  const listeners = process.listeners('SIGINT')
  const ignore = () => {}
  process.removeAllListeners('SIGINT').on('SIGINT', ignore)
  return () => {
    for (const listener of listeners) process.on('SIGINT', listener)
    process.off('SIGINT', ignore)
  }
}
