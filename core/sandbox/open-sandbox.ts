import { availableParallelism } from 'node:os'
import { AppError } from '#domain/error.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import { bubblewrap } from '#platform/program-cache.ts'
import { findProgram, isSuccess, runProgram } from '#platform/run-program.ts'
import { isolatingCommand, readSystemMounts } from './bubblewrap.ts'
import { runInBubblewrap } from './run-in-bubblewrap.ts'
import type { ProgramResult, SandboxedProgram } from './sandboxed-program.ts'

/** Where programs of a repository run, and nowhere else. */
export type Sandbox = {
  /**
   * Runs a program once a place is free. TOOL_005 where there is no sandbox; the reason of `signal` when that is aborted. How
   * the program ends, and which limit ended it, is the result.
   */
  run(program: SandboxedProgram, signal: AbortSignal): Promise<ProgramResult>
  /** Whether programs can be run, tried once with a program that does nothing. */
  state(): Promise<SandboxState>
  /**
   * A command that isolates a process of Remora's own, which reads only its code in `folders`: it has the rest of its arguments as
   * the process's command. Empty where there is no sandbox.
   */
  wrapper(folders: readonly string[]): Promise<readonly string[]>
}

export type SandboxState = { kind: 'works'; with: string } | { kind: 'lacking'; reason: string }

export type SandboxOptions = {
  /** `none`: no program is run. */
  runtime?: 'auto' | 'bubblewrap' | 'none'
  /** The path of bwrap; without it the one on the search path. */
  bubblewrap?: string | undefined
  searchPath: string
  /** Folders of this machine that programs may read besides the system's, at the same place. */
  paths?: readonly string[]
  /** Programs at once. */
  places?: number | undefined
  isRoot?: boolean
}

type Runtime = { run: Sandbox['run']; wrapper: Sandbox['wrapper'] }

export function openSandbox(options: SandboxOptions): Sandbox {
  const places = openSemaphore(options.places ?? availableParallelism())
  let found: Promise<Runtime> | undefined
  /** A sandbox that does not work is tried again for the next program: it may have been slow, or installed since. */
  const tried = () =>
    (found ??= findRuntime(options).catch((error: unknown) => {
      found = undefined
      throw error
    }))
  return {
    async run(program, signal) {
      const { run } = await tried()
      const leave = await places.acquire(signal)
      try {
        return await run(program, signal)
      } finally {
        leave()
      }
    },
    state: () =>
      tried().then(
        () => ({ kind: 'works', with: 'bubblewrap' }),
        (error: unknown) => ({ kind: 'lacking', reason: error instanceof Error ? error.message : String(error) }),
      ),
    wrapper: (folders) =>
      tried().then(
        (runtime) => runtime.wrapper(folders),
        () => [],
      ),
  }
}

const mebibyte = 1024 ** 2
/** Of a program that does nothing. */
const idleLimits = { wallMs: 10_000, memoryBytes: 64 * mebibyte, diskBytes: 16 * mebibyte, processes: 16 }

/** TOOL_005 with what is missing. */
async function findRuntime(options: SandboxOptions): Promise<Runtime> {
  const { runtime, searchPath, paths = [], isRoot = process.getuid?.() === 0 } = options
  if (runtime === 'none') throw new AppError('TOOL_005', 'sandbox.runtime is none: this machine runs no programs')
  const path = options.bubblewrap ?? (await findProgram(bubblewrap.name, searchPath))
  if (path === undefined) throw new AppError('TOOL_005', 'bubblewrap is not installed')
  const found = { path, isRoot, mounts: await readSystemMounts(paths, isRoot) }
  const run: Sandbox['run'] = (program, signal) => runInBubblewrap(program, found, signal)
  const { ending } = await run({ command: ['true'], files: {}, limits: idleLimits }, new AbortController().signal)
  if (ending.kind === 'exited' && ending.code === 0) {
    return { run, wrapper: (folders) => workingWrapper(isolatingCommand(path, found.mounts, folders)) }
  }
  const how = ending.kind === 'exited' ? `exit code ${ending.code}` : `stopped by its limit of ${ending.reason}`
  throw new AppError('TOOL_005', `bubblewrap does not work here: ${how}`)
}

/** Empty when Node does not start in it. */
async function workingWrapper(command: readonly [string, ...string[]]): Promise<readonly string[]> {
  const signal = new AbortController().signal
  const tried = await runProgram([...command, process.execPath, '--version'], {
    limitMs: idleLimits.wallMs,
    signal,
    env: {},
  })
  return isSuccess(tried) ? command : []
}
