import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, createReadStream, fstatSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { delay, msSince } from '#platform/clock.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { bareEnv } from '#platform/child-env.ts'
import { runProgram } from '#platform/run-program.ts'
import { containerArgs, type ContainerEngine } from './container.ts'
import { labelOf } from './left-containers.ts'
import { changesOf, type ProgramResult, type SandboxedProgram } from './sandboxed-program.ts'
import { type Launched, watchProgram } from './watch-program.ts'

/** Runs a program in a container of its own. TOOL_005 where the engine does not start or loses it; everything else is a result. */
export async function runInContainer(
  program: SandboxedProgram,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<ProgramResult> {
  signal.throwIfAborted()
  const start = performance.now()
  const changes = await Array.fromAsync(plainTar(changesOf(program.files)))
  const label = await labelOf(program.limits.wallMs)
  const seccomp = await openSeccompFile(engine.seccomp)
  try {
    const base = await program.files.base?.()
    try {
      signal.throwIfAborted()
      const bytes = {
        base: base === undefined ? 0 : fstatSync(base).size,
        changes: changes.reduce((sum, { length }) => sum + length, 0),
      }
      const name = `remora-${randomUUID()}`
      const args = containerArgs(program, engine, { name, label, bytes, seccompFile: seccomp.path })
      const child = spawn(engine.path, args, { cwd: '/', env: bareEnv(engine.env), stdio: ['pipe', 'pipe', 'pipe'] })
      const kill = openKill(child, name, engine)
      const launched = { child, input: tars(base, changes), holdsInput: true, kill }
      return { ...(await wholeResult(launched, program, signal)), durationMs: msSince(start) }
    } finally {
      if (base !== undefined) closeSync(base)
    }
  } finally {
    await seccomp.remove()
  }
}

async function wholeResult(launched: Launched, { limits }: SandboxedProgram, signal: AbortSignal) {
  const { isWhole, ...ended } = await watchProgram(launched, limits, signal)
  if (isWhole || ended.ending.kind !== 'exited') return ended
  throw new AppError('TOOL_005', `a program's container is gone: its command ended with exit code ${ended.ending.code}`)
}

/** Writes the profile into a file of this user alone, since engines take it from a file. */
async function openSeccompFile(profile: string | undefined) {
  if (profile === undefined) return { path: undefined, remove: async () => {} }
  const dir = await mkdtemp(join(tmpdir(), 'remora-seccomp-'))
  const path = join(dir, 'seccomp.json')
  await writeFile(path, profile)
  return { path, remove: () => rm(dir, { recursive: true, force: true }) }
}

/** Sends the tars one after the other: an engine gives a container no other stream than its stdin. */
async function* tars(base: number | undefined, changes: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  if (base !== undefined) yield* createReadStream('', { fd: base, start: 0, autoClose: false })
  yield* changes
}

const killMs = 10_000
const killTries = 5

function openKill(child: ChildProcess, name: string, engine: ContainerEngine): () => void {
  let isKilled = false
  return () => {
    if (isKilled || hasEnded(child)) return
    isKilled = true
    // A container that is only being made ends by that when it starts.
    child.stdin?.destroy()
    void killContainer(child, name, engine)
  }
}

async function killContainer(child: ChildProcess, name: string, { path, env }: ContainerEngine): Promise<void> {
  const running = { limitMs: killMs, signal: new AbortController().signal, env }
  for (let tries = 0; tries < killTries && !hasEnded(child); tries++) {
    await runProgram([path, 'kill', name], running)
    await delay(tries === 0 ? 0 : 500)
  }
  if (hasEnded(child)) return
  await runProgram([path, 'rm', '--force', name], running)
  child.kill('SIGKILL')
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}
