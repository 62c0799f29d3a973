import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '#platform/env.ts'
import { bubblewrap as wanted } from '#platform/known-programs.ts'
import { obtainProgram } from '#platform/obtain-program.ts'
import { bubblewrapDir } from '#platform/program-cache.ts'
import { bareEnv } from '#platform/child-env.ts'
import { findProgram } from '#platform/run-program.ts'
import { engineNames } from './container.ts'
import { openSandbox, type Sandbox, type SandboxOptions } from './open-sandbox.ts'
import type { ProgramResult, SandboxedProgram, SandboxLimits } from './sandboxed-program.ts'

/** The sandbox of this machine, got as `remora run` gets it, with the path of bwrap, or why there is none. */
export async function testSandbox(
  env: Env,
  options: Pick<SandboxOptions, 'places'> = {},
): Promise<{ sandbox: Sandbox; bubblewrap: string; lack: string | undefined; options: SandboxOptions }> {
  const isRoot = process.getuid?.() === 0
  const searchPath = env['PATH'] ?? ''
  const mayInstall = env['REMORA_REDIS_INSTALL'] !== 'never'
  const places = { searchPath, programDir: bubblewrapDir(env, isRoot), env, signal: new AbortController().signal }
  const { path: bubblewrap } = await obtainProgram(wanted, { ...places, isRoot, mayInstall, say: () => {} })
  const found = { ...options, searchPath, bubblewrap }
  const sandbox = openSandbox(found)
  const state = await sandbox.state()
  const lack = state.kind === 'works' ? undefined : state.reason
  return { sandbox, bubblewrap: bubblewrap ?? '', lack, options: found }
}

export type TestSandbox = { name: string; sandbox: Sandbox; lack: string | undefined }

/** All that this machine may run programs in, each by itself. */
export async function testSandboxes(env: Env): Promise<TestSandbox[]> {
  return [{ name: 'bubblewrap', ...(await testSandbox(env)) }, ...(await containerSandboxes(env))]
}

/**
 * Containers of each engine by itself. They need an engine that runs, and in it the image that
 * `docker build -f infra/sandbox.Dockerfile -t remora-sandbox infra` makes, or REMORA_TEST_SANDBOX_IMAGE names.
 */
export async function containerSandboxes(env: Env) {
  return Promise.all(engineNames.map((name) => containersOf(name, env)))
}

async function containersOf(name: string, env: Env) {
  // A search path with this engine and no other.
  const searchPath = join(tmpdir(), `remora-only-${name}`)
  const path = await findProgram(name, env['PATH'] ?? '')
  await mkdir(searchPath, { recursive: true })
  if (path !== undefined) await symlink(path, join(searchPath, name)).catch(() => {}) // there from another test
  const image = env['REMORA_TEST_SANDBOX_IMAGE'] ?? 'remora-sandbox'
  const options = { image, searchPath, env: bareEnv(env) }
  const opened = () => openSandbox({ ...options, runtime: 'container' })
  const sandbox = opened()
  const state = await sandbox.state()
  const lack = state.kind === 'works' ? undefined : state.reason
  if (lack !== undefined) process.stderr.write(`what needs containers of ${name} is skipped: ${lack}\n`)
  return { name, sandbox, lack, open: { options, sandbox: opened } }
}

type RunOptions = Partial<Pick<SandboxedProgram, 'files' | 'report' | 'environment'>> & {
  limits?: Partial<SandboxLimits>
  signal?: AbortSignal
}

export function runIn(
  sandbox: Sandbox,
  command: SandboxedProgram['command'],
  { limits, signal = new AbortController().signal, files = {}, ...rest }: RunOptions = {},
): Promise<ProgramResult> {
  return sandbox.run({ command, files, ...rest, limits: { ...usualLimits, ...limits } }, signal)
}

export const usualLimits: SandboxLimits = {
  wallMs: 60_000,
  memoryBytes: 512 * 1024 ** 2,
  diskBytes: 512 * 1024 ** 2,
  processes: 128,
}

/** Processes of this machine whose command has `word`. */
export async function processesWith(word: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return commands.filter((command) => command.includes(word))
}
