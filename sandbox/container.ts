import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import {
  folderBytes,
  isMountable,
  launcherOf,
  sandboxVariables,
  type SandboxedProgram,
  sharedMemoryBytes,
  workFolder,
} from './sandboxed-program.ts'

export const engineNames = ['podman', 'docker'] as const

export type ContainerEngine = {
  name: (typeof engineNames)[number]
  path: string
  env: Env
  image: string
  paths: readonly string[]
  /** Replaces the engine's own profile, as JSON. */
  seccomp?: string | undefined
}

/** Labels every container that runs a program, with who waits for it. */
export const ownerLabel = 'remora.sandbox'

/** Is nobody's on any machine, and within what rootless engines map: without user namespaces it is the same outside. */
const containerUser = '59999:59999'
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The launcher, its guard with `cat`, and what reads the report. */
const ownProcesses = 4

/** Docker copies this machine's DNS servers into a container, Podman its host names; neither keeps the worker's `nice`. */
const onlyOf = {
  docker: ['--dns', '127.0.0.1', '--dns-search', '.', '--cpu-shares', '128'],
  podman: ['--no-hosts', '--read-only-tmpfs=false', '--image-volume=ignore'],
}

type Started = {
  name: string
  label: string
  bytes: { base: number; changes: number }
  seccompFile: string | undefined
}

/**
 * Returns the arguments of `podman` and `docker` for one program: no network, nothing of this machine but `paths`, no other process to be seen,
 * no privilege to be had, nothing to be written but the working folder, /tmp and shared memory. All of it ends with its first process,
 * and that with the stdin of this command. Files in tmpfs count against the memory limit, so that is the program's own memory plus every tmpfs when full. TOOL_005 for a
 * path that would be read as more than a path.
 */
export function containerArgs(program: SandboxedProgram, engine: ContainerEngine, started: Started): string[] {
  const { limits, environment, mounts = [], folders = [] } = program
  const memory = String(memoryOf(program))
  const inMemory = (folder: string, bytes = limits.diskBytes) =>
    `${folder}:rw,exec,nosuid,nodev,size=${bytes},mode=1777`
  const shown = [...engine.paths.map((path) => ({ from: path, to: path })), ...mounts]
  for (const path of [...shown.flatMap(({ from, to }) => [from, to]), ...folders]) {
    if (!isMountable(path)) throw new AppError('TOOL_005', `a container cannot be given ${JSON.stringify(path)}`)
  }
  const variables = Object.entries({ ...sandboxVariables, ...environment, PATH: searchPath })
  return [
    ['run', '--rm', '--interactive', '--pull', 'never', '--name', started.name],
    ['--label', `${ownerLabel}=${started.label}`, '--log-driver', 'none', '--no-healthcheck'],
    ['--network', 'none', '--hostname', 'sandbox', '--ipc', 'private', '--user', containerUser],
    ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    started.seccompFile === undefined ? [] : ['--security-opt', `seccomp=${started.seccompFile}`],
    ['--memory', memory, '--memory-swap', memory, '--pids-limit', String(limits.processes + ownProcesses)],
    ['--shm-size', String(sharedMemoryBytes), '--tmpfs', inMemory('/tmp'), '--tmpfs', inMemory(workFolder)],
    shown.flatMap(({ from, to }) => ['--mount', `type=bind,source=${from},target=${to},readonly`]),
    folders.flatMap((path) => ['--tmpfs', inMemory(path, folderBytes(program))]),
    onlyOf[engine.name],
    // `env`, so that what the image and the engine's own settings say, such as proxies, is in no process.
    ['--workdir', '/', '--entrypoint', '/usr/bin/env', engine.image, '-i'],
    variables.map(([name, value]) => `${name}=${value}`),
    launcherOf(program, launchOf(started)),
  ].flat()
}

export function memoryOf({ limits, folders = [] }: Pick<SandboxedProgram, 'limits' | 'folders'>): number {
  return limits.memoryBytes + (folders.length === 0 ? 2 : 3) * limits.diskBytes + sharedMemoryBytes
}

const needed = ['tar', 'xargs', 'cp', 'head', 'cat', 'mkdir', 'rm', 'nice', 'prlimit', 'env']

/** Memory and processes are the engine's to limit. */
function launchOf({ bytes }: Started) {
  return {
    prepare: `for program in ${needed.join(' ')}; do
  command -v $program >/dev/null || { printf '%s\\n' "the image has no $program" >&2; exit 1; }
done`,
    // `head` stops after the bytes of one archive; `tar` would read into the next.
    unpackBase: bytes.base === 0 ? ':' : `head -c ${bytes.base} | tar -xf -`,
    unpackChanges: `head -c ${bytes.changes} | tar -xf -`,
    guard: guardOfInput,
    limits: [],
  }
}

/** The stdin ends when the worker dies; then all processes here are killed, since an engine keeps a container whose command was killed. */
const guardOfInput = `exec 3<&0 </dev/null
{ cat <&3 >/dev/null; kill -s KILL -- -1; } &
exec 3<&-`
