import { emitKeypressEvents, type Key as PressedKey } from 'node:readline'
import type { Interactive } from '../cli-context.ts'
import type { Key, Size } from './review-state.ts'

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

export type ScreenEvents = {
  onKey(key: Key): void
  /** Pasted text as a whole, so that it is not taken for keys. */
  onPaste(text: string): void
  onResize(size: Size): void
}

// The other screen, no cursor, no wrapping of lines, and marks around what is pasted.
const enter = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[?2004h'
const leave = '\u001B[?2004l\u001B[?7h\u001B[?25h\u001B[?1049l'

/** Of a terminal that does not know its size. */
const usual = { columns: 80, rows: 24 }

/** Takes the terminal. It is given back at the latest when the process exits, however that comes. */
export function openFullScreen(terminal: Interactive, events: ScreenEvents): FullScreen {
  const { output } = terminal
  const size = () => ({ columns: output.columns || usual.columns, rows: output.rows || usual.rows })
  const resized = () => events.onResize(size())
  const hold = openHold(terminal, openKeys(events))
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

/** Changes the terminal to a screen with keys, and back. */
function openHold({ input, output }: Interactive, pressed: (text: string | undefined, key: PressedKey) => void) {
  let isTaken = false
  emitKeypressEvents(input)
  return {
    isTaken: () => isTaken,
    take() {
      isTaken = true
      input.setRawMode(true)
      input.on('keypress', pressed)
      input.resume()
      output.write(enter)
    },
    giveBack() {
      if (!isTaken) return
      isTaken = false
      output.write(leave)
      input.off('keypress', pressed)
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

const control = /\p{Cc}/u

/** What readline finds in the bytes of a terminal, as a name and the text that the key writes. */
function openKeys({ onKey, onPaste }: ScreenEvents): (text: string | undefined, key: PressedKey) => void {
  let pasted: string | undefined
  return (text, { name = '', ctrl = false, meta = false, sequence = '' }) => {
    if (name === 'paste-start') pasted = ''
    else if (name === 'paste-end') {
      onPaste(pasted ?? '')
      pasted = undefined
    } else if (pasted !== undefined) pasted += sequence
    // Escape and a letter soon after it are read as one key: it was the Escape that came first.
    else if (meta) onKey({ name: 'escape', text: '' })
    else if (ctrl) onKey({ name: `ctrl-${name}`, text: '' })
    else onKey({ name, text: text === undefined || control.test(text) ? '' : text })
  }
}
