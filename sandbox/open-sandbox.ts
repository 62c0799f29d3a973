import { availableParallelism } from 'node:os'
import { AppError } from '#domain/error.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import type { Env } from '#platform/env.ts'
import { bubblewrap } from '#platform/known-programs.ts'
import { findProgram, isSuccess, runProgram, type Wrapper } from '#platform/run-program.ts'
import { isolatingCommand, readSystemMounts } from './bubblewrap.ts'
import type { ContainerEngine } from './container.ts'
import { findContainer } from './find-container.ts'
import { runInBubblewrap } from './run-in-bubblewrap.ts'
import { runInContainer } from './run-in-container.ts'
import type { ProgramResult, SandboxedProgram } from './sandboxed-program.ts'

/** Programs of a repository run here, and nowhere else. */
export type Sandbox = {
  /** Runs a program once a place is free. TOOL_005 where there is no sandbox; how the program ends, and by which limit, is the result. */
  run(program: SandboxedProgram, signal: AbortSignal): Promise<ProgramResult>
  /** Tells whether programs can be run, which is tried once with a program that does nothing. */
  state(): Promise<SandboxState>
  /** Isolates a process of Remora's own, which reads only its code in `folders`. Undefined where there is no bubblewrap. */
  wrapper(folders: readonly string[]): Promise<Wrapper | undefined>
}

export type SandboxState = { kind: 'works'; with: RuntimeName } | { kind: 'lacking'; reason: string }
type RuntimeName = 'bubblewrap' | ContainerEngine['name']

export type SandboxOptions = {
  /** `auto`: bubblewrap where that works, else a container where an image is named. `none`: no program is run. */
  runtime?: 'auto' | 'bubblewrap' | 'container' | 'none'
  bubblewrap?: string | undefined
  /** Names the image that containers are started from; the engine of this machine must have it. */
  image?: string | undefined
  searchPath: string
  env?: Env
  /** Folders of this machine that programs may read besides the system's, at the same place. */
  paths?: readonly string[]
  places?: number | undefined
  isRoot?: boolean
}

type Runtime = { name: RuntimeName; run: Sandbox['run']; wrapper: Sandbox['wrapper'] }

export function openSandbox(options: SandboxOptions): Sandbox {
  const places = openSemaphore(options.places ?? availableParallelism())
  let working: Promise<Runtime> | undefined
  /** A sandbox that does not work is tried again for the next program: it may have been slow, or installed since. */
  const tried = () =>
    (working ??= findRuntime(options).catch((error: unknown) => {
      working = undefined
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
        ({ name }) => ({ kind: 'works', with: name }),
        (error: unknown) => ({ kind: 'lacking', reason: messageOf(error) }),
      ),
    wrapper: (folders) =>
      tried().then(
        (runtime) => runtime.wrapper(folders),
        () => undefined,
      ),
  }
}

const mebibyte = 1024 ** 2
const idleLimits = { wallMs: 30_000, memoryBytes: 64 * mebibyte, diskBytes: 16 * mebibyte, processes: 16 }

/** Throws TOOL_005 with what is missing. */
async function findRuntime(options: SandboxOptions): Promise<Runtime> {
  const { runtime = 'auto', image } = options
  if (runtime === 'none') throw new AppError('TOOL_005', 'sandbox.runtime is none: this machine runs no programs')
  if (runtime === 'container') return containerRuntime(options)
  if (runtime === 'bubblewrap' || image === undefined) return bubblewrapRuntime(options)
  const wrapped = await bubblewrapRuntime(options).catch((error: unknown) => messageOf(error))
  if (typeof wrapped !== 'string') return wrapped
  return containerRuntime(options).catch((error: unknown) => {
    throw new AppError('TOOL_005', `${wrapped}; ${messageOf(error)}`)
  })
}

async function bubblewrapRuntime(options: SandboxOptions): Promise<Runtime> {
  const { searchPath, paths = [], isRoot = process.getuid?.() === 0 } = options
  const path = options.bubblewrap ?? (await findProgram(bubblewrap.names[0], searchPath))
  if (path === undefined) throw new AppError('TOOL_005', 'bubblewrap is not installed')
  const bwrap = { path, isRoot, mounts: await readSystemMounts({ paths, searchPath }, isRoot) }
  const run: Sandbox['run'] = (program, signal) => runInBubblewrap(program, bwrap, signal)
  const { ending } = await run({ command: ['true'], files: {}, limits: idleLimits }, new AbortController().signal)
  if (ending.kind === 'exited' && ending.code === 0) {
    const wrapper = (folders: readonly string[]) => workingWrapper(isolatingCommand(path, bwrap.mounts, folders))
    return { name: 'bubblewrap', run, wrapper }
  }
  const how = ending.kind === 'exited' ? `exit code ${ending.code}` : `stopped by its limit of ${ending.reason}`
  throw new AppError('TOOL_005', `bubblewrap does not work here: ${how}`)
}

/** It does not hold processes of Remora's own: an image has not their Node, and one of many messages is no program. */
async function containerRuntime({ image, searchPath, env = {}, paths = [] }: SandboxOptions): Promise<Runtime> {
  const engine = await findContainer({ image, searchPath, env, paths }, idleLimits)
  return {
    name: engine.name,
    run: (program, signal) => runInContainer(program, engine, signal),
    wrapper: async () => undefined,
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns undefined when Node does not start in it. */
async function workingWrapper(wrapper: Wrapper): Promise<Wrapper | undefined> {
  const [program = '', ...args] = wrapper.command
  const signal = new AbortController().signal
  const tried = await runProgram([program, ...args, process.execPath, '--version'], {
    input: wrapper.input,
    limitMs: idleLimits.wallMs,
    signal,
    env: {},
  })
  return isSuccess(tried) ? wrapper : undefined
}
