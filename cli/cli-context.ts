import type { ReadStream, WriteStream } from 'node:tty'
import type { CliConfig } from './cli-config.ts'
import type { Terminal } from './progress/live-screen.ts'

/** The output of a command: its streams and its exit code. Text is written as it is, so it includes its newline. */
export type CommandIo = {
  out(text: string): void
  err(text: string): void
  /** Sets the code the process ends with: 0 done, 1 failed, 2 wrong usage, 3 partly done. Does not end it. */
  exit(code: 0 | 1 | 2 | 3): void
}

export type Interactive = { input: ReadStream; output: WriteStream }

/** Every command gets this, and uses nothing else of the process. */
export type CliContext = {
  io: CommandIo
  config: CliConfig
  /** Aborted on Ctrl-C and SIGTERM: the command then stops what it started, and returns or throws. */
  signal: AbortSignal
  /** The terminal that stderr is connected to; undefined for a pipe. */
  terminal: Terminal | undefined
  /** Opens it for keys and whole screens; undefined where stdin or stdout is a pipe. */
  interactive?: () => Interactive | undefined
  colored: boolean
  /** The width of the terminal that stdout is connected to; undefined for a pipe, where no line is cut. */
  columns?: number | undefined
  cwd: string
  verbose(): boolean
}
