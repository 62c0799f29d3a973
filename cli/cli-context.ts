import type { CommandIo } from './command-io.ts'
import type { CliConfig } from './config.ts'
import type { Terminal } from './progress/live-screen.ts'

/** What every command is given. Nothing else of the process is touched by a command. */
export type CliContext = {
  io: CommandIo
  config: CliConfig
  /** Aborted on Ctrl-C and SIGTERM: a command then stops what it started and returns or throws. */
  signal: AbortSignal
  /** The terminal stderr is, or undefined for a pipe. */
  terminal: Terminal | undefined
  /** Whether stdout takes colours. */
  colored: boolean
  /** Of the terminal stdout is. Undefined for a pipe, where no line is cut. */
  columns?: number | undefined
  /** The folder the command was called in. */
  cwd: string
  /** `--verbose`. */
  verbose(): boolean
}
