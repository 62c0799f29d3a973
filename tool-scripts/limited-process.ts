import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { killWithChildren } from '#platform/process-tree.ts'
import { giveInput, type Wrapper } from '#platform/run-program.ts'

export type LimitedProcess = {
  pid: number | undefined
  /** Queues one line; those for a busy process are sent together. Does nothing when the process has ended. */
  send(line: string, options?: { isBusy: boolean }): void
  kill(): void
}

type LimitedProgram<Message> = {
  file: string
  message: z.ZodType<Message>
  /** A command that starts the rest of its arguments in a sandbox (sandbox); none by default. */
  wrapper?: Wrapper | undefined
  /** Limits its processor time, after which the kernel ends it, even if the host is dead; unlimited by default. */
  cpuSeconds?: number | undefined
}

export type ProcessListeners<Message> = {
  onMessage(message: Message): void
  /** Is called once, after the last message. `lastWords` is the end of what it wrote to stderr. */
  onExit(lastWords: string): void
}

/** Lists the folders of this code and of the modules that it loads, also behind links: all that such a process may read. */
export const codeFolders: readonly string[] = foldersOfCode()

function foldersOfCode(): string[] {
  const own = fileURLToPath(new URL('../', import.meta.url))
  const monty = findPackageJSON('@pydantic/monty', import.meta.url) ?? own
  const paths = [own, realpathSync(own), modulesAround(monty), modulesAround(realpathSync(monty))]
  return [...new Set(paths.map((path) => path.replace(/\/$/, '')))]
}

/** The outermost `node_modules` that the path is in: some package managers have others inside, whose links lead to it. */
function modulesAround(path: string): string {
  return /^.*?\/node_modules(?=\/)/.exec(path)?.[0] ?? dirname(path)
}

const permissions = [
  '--permission',
  ...codeFolders.map((folder) => `--allow-fs-read=${folder}`),
  '--allow-addons',
  '--disable-warning=SecurityWarning', // of the addon
]
const nodeOptions = [...permissions, '--max-old-space-size=128', '--max-semi-space-size=4']
/** Counts kB (RLIMIT_DATA), about 400 MB more than Node itself maps: Monty's limits do not count the transfer of values. */
const dataLimit = 1_000_000
const limited = 'ulimit -d "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"'
const maxLineBytes = 64 * 1024 * 1024
const maxLastWords = 2_000
/** Shorter lines are joined into one write; joined long ones could exceed the maximum length of a string. */
const longLine = 64 * 1024

/** Starts a process for untrusted code: no environment, no inherited descriptors, no rights in Node, only pipes. */
export function startLimitedProcess<Message>(
  { file, message: schema, cpuSeconds, wrapper }: LimitedProgram<Message>,
  listeners: ProcessListeners<Message>,
): LimitedProcess {
  const { child, stdin, stdout, stderr } = spawnLimited({ file, cpuSeconds, wrapper })
  const kill = () => killWithChildren(child)
  let pending: string[] = []
  let lastWords = ''
  let exited = false
  const flush = (): void => {
    if (pending.length === 0) return
    const texts = pending.some(({ length }) => length > longLine) ? pending : [pending.join('')]
    pending = []
    if (!exited) for (const text of texts) stdin.write(text)
  }
  const exit = (reason: string): void => {
    if (exited) return
    exited = true
    listeners.onExit(`${reason} ${lastWords}`.trim())
  }
  stdin.on('error', kill)
  stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-maxLastWords)))
  child.on('error', (error) => exit(error.message))
  child.on('close', (code, signal) => exit(signal === null ? `exit code ${code}` : `ended by ${signal}`))
  readLines(stdout, (line) => {
    const message = line === undefined ? undefined : parseMessage(schema, line)
    if (message === undefined) kill()
    else listeners.onMessage(message)
    return message !== undefined
  })
  return {
    pid: child.pid,
    send(line, { isBusy } = { isBusy: true }) {
      pending.push(`${line}\n`)
      if (!isBusy) queueMicrotask(flush)
      else if (pending.length === 1) setImmediate(flush)
    },
    kill,
  }
}

type Started = Pick<LimitedProgram<unknown>, 'cpuSeconds' | 'file' | 'wrapper'>

function spawnLimited({ file, cpuSeconds, wrapper }: Started) {
  const limits = [String(dataLimit), String(cpuSeconds ?? 'unlimited')]
  const limitedNode = ['/bin/sh', '-c', limited, 'sh', ...limits, process.execPath, ...nodeOptions, file]
  const [program = '', ...args] = [...(wrapper?.command ?? []), ...limitedNode]
  const child = spawn(program, args, {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe', wrapper?.input === undefined ? 'ignore' : 'pipe'],
    detached: true,
  })
  giveInput(child, wrapper?.input)
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('a process without pipes')
  return { child, stdin, stdout, stderr }
}

/** Passes on each line, undefined for one that is too long, until `onLine` returns false. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string | undefined) => boolean): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineBytes) return void onLine(undefined)
    lines.every(onLine)
  })
}

function parseMessage<Message>(schema: z.ZodType<Message>, line: string): Message | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
