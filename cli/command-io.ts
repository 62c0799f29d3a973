/** What a command may do besides returning: its streams and its exit code. Text goes out as it is, newline included. */
export type CommandIo = {
  out(text: string): void
  err(text: string): void
  /** Sets the code the process ends with: 0 done, 1 failed, 2 wrong usage, 3 partly done. Does not end it. */
  exit(code: 0 | 1 | 2 | 3): void
}
