import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { FromScriptProcess } from './script-protocol.ts'

export type ScriptProcess = {
  pid: number | undefined
  /**
   * Queues one line. What comes while the process is busy leaves together a little later: it would wait there as well.
   * Nothing happens when the process has gone.
   */
  send(line: string, options?: { isBusy: boolean }): void
  /** Ends the process at once, whatever it does. `onExit` follows. */
  kill(): void
}

type Listeners = {
  onMessage(message: FromScriptProcess): void
  /** Once, after the last message. `lastWords` is the end of what it wrote to stderr. */
  onExit(lastWords: string): void
}

const childFile = fileURLToPath(new URL('script-child.ts', import.meta.url))
const nodeOptions = ['--max-old-space-size=128', '--max-semi-space-size=4', '--expose-gc']
/**
 * Monty's limits count its own heap, not what handing a value over costs, so the process has a limit as well: about
 * 400 MB over what Node itself maps (kB, RLIMIT_DATA).
 */
const dataLimit = 1_000_000
const limited = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"'
const maxLineBytes = 64 * 1024 * 1024
const maxLastWords = 2_000
/** Lines leave in one write, but not long ones: together they may be longer than a string can be. */
const longLine = 64 * 1024

/** Starts a process that runs scripts: no environment, no inherited descriptors, nothing but two pipes. */
export function startScriptProcess(listeners: Listeners): ScriptProcess {
  const command = [process.execPath, ...nodeOptions, childFile]
  const child = spawn('/bin/sh', ['-c', limited, 'sh', String(dataLimit), ...command], {
    env: {},
    cwd: '/',
    stdio: 'pipe',
  })
  let pending: string[] = []
  let lastWords = ''
  let exited = false
  const flush = (): void => {
    const texts = pending.some(({ length }) => length > longLine) ? pending : [pending.join('')]
    pending = []
    if (!exited) for (const text of texts) child.stdin.write(text)
  }
  const exit = (reason: string): void => {
    if (exited) return
    exited = true
    listeners.onExit(`${reason} ${lastWords}`.trim())
  }
  child.stdin.on('error', () => child.kill('SIGKILL'))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-maxLastWords)))
  child.on('error', (error) => exit(error.message))
  child.on('close', (code, signal) => exit(signal === null ? `exit code ${code}` : `ended by ${signal}`))
  readMessages(child.stdout, listeners.onMessage, () => child.kill('SIGKILL'))
  return {
    pid: child.pid,
    send(line, { isBusy } = { isBusy: true }) {
      pending.push(`${line}\n`)
      if (!isBusy) queueMicrotask(flush)
      else if (pending.length === 1) setImmediate(flush)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Calls `onFault` for anything the protocol does not know: the process is not ours any more. */
function readMessages(stream: NodeJS.ReadableStream, onMessage: Listeners['onMessage'], onFault: () => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineBytes) return onFault()
    for (const line of lines) {
      const message = parseMessage(line)
      if (message === undefined) return onFault()
      onMessage(message)
    }
  })
}

function parseMessage(line: string): FromScriptProcess | undefined {
  try {
    return FromScriptProcess.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
