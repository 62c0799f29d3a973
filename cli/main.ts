import '#platform/lean-v8.ts'
import { isatty } from 'node:tty'
import { delay } from '#platform/clock.ts'
import type { Interactive } from './cli-context.ts'
import { runCli } from './run-cli.ts'

/** Only a command that reads keys touches stdin. */
function interactive(): Interactive | undefined {
  return isatty(0) && isatty(1) ? { input: process.stdin, output: process.stdout } : undefined
}

/**
 * A pipe takes 64 KiB at a time, and the rest is lost when the process exits. Resolves also when the reader has closed it.
 */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()))
}

// Keeps the process alive until the command has ended: what it waits for may not, such as the timers of the model pool.
void delay(Infinity)
const code = await runCli(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async openSignal() {
    const { onInterrupt } = await import('./interrupt.ts')
    return onInterrupt({ startedByNpx: process.env['npm_command'] === 'exec' })
  },
  terminal: process.stderr.isTTY ? process.stderr : undefined,
  interactive,
  isTerminal: process.stdout.isTTY,
  columns: process.stdout.columns,
})
await Promise.all([flushed(process.stdout), flushed(process.stderr)])
process.exit(code)
