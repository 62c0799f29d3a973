import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The repository's root. */
export const repository = fileURLToPath(new URL('../', import.meta.url))

/** The Node that comes with the package: what npx and npm scripts start. */
const node = `${repository}node_modules/.bin/node`

export type Program = {
  pid: number
  out(): string
  err(): string
  running(): boolean
  /** The exit code, or the name of the signal that ended it. */
  exited: Promise<number | string>
  kill(signal: NodeJS.Signals): void
  /** What Ctrl-C in a terminal does: SIGINT to the program and to all of its process group. */
  interrupt(): void
}

/** `checkout` is the root of the code that runs, with a slash at its end; this repository when left out. */
export type ProgramOptions = { env: Readonly<Record<string, string>>; cwd?: string; checkout?: string }

export type Programs = {
  /** Starts one of the repository's files with nothing of this process's environment but the PATH, and a place for compiled code. */
  start(args: readonly string[], options: ProgramOptions): Program
  /** Kills what still runs and waits for it. */
  end(): Promise<void>
}

/** The programs one test file starts. */
export function openPrograms(): Programs {
  const running = new Set<ChildProcess>()
  return {
    start([file = '', ...args], { env, checkout = repository, cwd = checkout }) {
      const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
      const child = spawn(node, [`${checkout}${file}`, ...args], {
        env: { PATH, NODE_COMPILE_CACHE, ...env },
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // a process group of its own, as a shell would give it
      })
      running.add(child)
      const out = collect(child.stdout)
      const err = collect(child.stderr)
      const exited = once(child, 'close').then(([code, signal]: unknown[]) => {
        running.delete(child)
        return typeof code === 'number' ? code : String(signal)
      })
      const { pid } = child
      if (pid === undefined) throw new Error(`${node} could not be started`)
      return {
        pid,
        out,
        err,
        exited,
        running: () => running.has(child),
        kill: (signal) => void child.kill(signal),
        interrupt: () => void process.kill(-pid, 'SIGINT'),
      }
    },
    async end() {
      await Promise.all(
        [...running].map(async (child) => {
          const gone = once(child, 'close')
          child.kill('SIGKILL')
          await gone
        }),
      )
    },
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (more: string) => (text += more))
  return () => text
}

/** `npx remora …` in a folder, as a new user would call it: with no settings but those given here. */
export function remora(
  programs: Programs,
  folder: { path: string },
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  return programs.start(['cli/remora.mjs', ...args], { env: { HOME: folder.path, ...env }, cwd: folder.path })
}

/** The last line of what a program printed, which `--json` promises to be a document. */
export function lastDocument(printed: string): unknown {
  return JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '')
}
