import { availableParallelism } from 'node:os'
import type { TarItem } from '#platform/gzipped-tar.ts'
import type { Writable } from 'node:stream'

/** A program, the files that it finds, and what it may use. */
export type SandboxedProgram = {
  /** Is looked up on the PATH of `environment`, else on the sandbox's own: this process's `node` and the system's programs. */
  command: readonly [string, ...string[]]
  files: ProgramFiles
  environment?: Readonly<Record<string, string>>
  /** A file of the sandbox that the program writes, whose first `maxReportBytes` are returned. */
  report?: string
  mounts?: readonly SandboxMount[]
  /** Names further folders that it may write, empty at first, all together as large as the working folder. */
  folders?: readonly string[]
  /** Gets what the program writes to its descriptor 6. The program waits while that takes no more. */
  result?: Writable
  limits: SandboxLimits
}

/** A file or folder of this machine, `from`, that a program finds at `to`, read-only. */
export type SandboxMount = { from: string; to: string }

/** Tells whether a path can be mounted: in the options of a container engine these characters begin another option. */
export function isMountable(path: string): boolean {
  return !/[,:="\p{Cc}]/u.test(path)
}

/** The bytes of each of a program's own folders: they share what the working folder has once more. */
export function folderBytes({ folders = [], limits }: Pick<SandboxedProgram, 'folders' | 'limits'>): number {
  return Math.ceil(limits.diskBytes / Math.max(1, folders.length))
}

/** Lists what is put into the working folder: `base`, without what is `deleted`, and then `changed`. */
export type ProgramFiles = {
  /** Opens a tar file for reading, when the program has its place. The descriptor is closed when the program has ended. */
  base?: () => Promise<number>
  changed?: readonly ChangedFile[]
  deleted?: readonly string[]
}

/** `path` is relative to the working folder. */
export type ChangedFile = { path: string; content: Uint8Array; executable: boolean }

export type SandboxLimits = {
  wallMs: number
  /** Limits the memory of all its processes together, without files. */
  memoryBytes: number
  /** Limits the working folder and /tmp, each: both are kept in memory. */
  diskBytes: number
  processes: number
}

/** A program that writes more output is stopped. */
export const maxOutputBytes = 16 * 1024 ** 2

/** The limit that a program ran into. `files`: its files did not fit into the working folder, and it did not start. */
export type StopReason = 'time' | 'memory' | 'processes' | 'output' | 'file size' | 'files'

export type ProgramResult = {
  /** A program that is not there has the exit code 127, as in a shell; one that a signal ended 128 and the signal's number. */
  ending: { kind: 'exited'; code: number } | { kind: 'stopped'; reason: StopReason }
  /** Holds its stdout and stderr, in the order of writing; `cutBytes` are missing in the middle, where a line says so. */
  output: string
  cutBytes: number
  report: Uint8Array | undefined
  isReportCut: boolean
  durationMs: number
}

export const workFolder = '/workspace'
/** Whatever is mounted here is laid into the working folder before the program's files. */
export const addedFolder = '/remora/added'
export const homeFolder = '/tmp/home'
export const sharedMemoryBytes = 64 * 1024 ** 2
export const maxReportBytes = 16 * 1024 ** 2

/** Every program finds these in its environment, besides PATH. */
export const sandboxVariables = {
  HOME: homeFolder,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  CI: 'true',
  NO_COLOR: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  // There is no network: what a setup has not downloaded is missing at once, and not after minutes.
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
}

/** The launcher writes these to its stderr: files are there, or cannot be laid out; how the program ended, then the report. */
export const startedMark = 'remora: started\n'
export const filesMark = 'remora: files\n'
export const endMarks = { ended: 'remora: ended\n', memory: 'remora: memory\n' } as const

/** Names of the tar of changes: the changed files below the first, deleted paths, ended by NUL, in the second. */
const changesTar = { files: 'files/', deleted: 'deleted' }
const changesFolder = '/tmp/.remora'

/** The changes as the launcher reads them. */
export function changesOf({ changed = [], deleted = [] }: ProgramFiles): TarItem[] {
  const content = Buffer.from(deleted.map((path) => `${path}\0`).join(''))
  const files = changed.map((file) => ({ ...file, path: `${changesTar.files}${file.path}` }))
  return [{ path: changesTar.deleted, executable: false, content }, ...files]
}

/** Says how runtimes differ: in shell commands, and in the limits that a program's processes themselves are to be held to. */
export type Launch = {
  prepare?: string
  unpackBase: string
  /** Unpacks the tar of changes into the folder that `-C` names. */
  unpackChanges: string
  guard?: string
  limits: readonly string[]
}

/**
 * The shell command of the first process in a sandbox. Its stdout is the program's output, its stderr has the marks and the report.
 * What it starts itself it looks up on the sandbox's own PATH: that of the program may have what a setup installed. The program
 * is given none of the launcher's pipes but its output; since it is the same user it could find the others, so what comes
 * from them is believed as little as the program itself.
 */
export function launcherOf(
  { command, environment = {}, report = '', limits }: SandboxedProgram,
  launch: Launch,
): string[] {
  // Of a process its threads count together, and the kernel's first warning is what tells this limit from others.
  const cpuS = Math.ceil(limits.wallMs / 1_000) * availableParallelism()
  const held = [
    `--cpu=${cpuS}:${cpuS + 5}`,
    `--fsize=${limits.diskBytes}`,
    '--core=0',
    '--nofile=1024',
    ...launch.limits,
  ]
  const script = `
set -e
umask 022
cd ${workFolder}
${launch.prepare ?? ''}
{
  mkdir -p ${changesFolder}/${changesTar.files} ${homeFolder} &&
    { [ ! -d ${addedFolder} ] || cp -R ${addedFolder}/. .; } &&
    ${launch.unpackBase} &&
    ${launch.unpackChanges} -C ${changesFolder} &&
    xargs -0r rm -rf -- <${changesFolder}/${changesTar.deleted} &&
    cp -R --remove-destination ${changesFolder}/${changesTar.files}. . &&
    rm -rf ${changesFolder}
} || {
  ${say(filesMark)}
  exit 1
}
${launch.guard ?? ''}
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
${say(startedMark)}
report=$1
path=\${2:-$PATH}
shift 2
set +e
nice -n 10 prlimit ${held.join(' ')} -- env PATH="$path" "$@" </dev/null 2>&1
code=$?
kills=0
for counts in ${outOfMemoryCounts.join(' ')}; do
  [ ! -r $counts ] || while read -r name count; do [ "$name" != oom_kill ] || kills=$count; done <$counts
done
if [ "$kills" = 0 ]; then ${say(endMarks.ended)}; else ${say(endMarks.memory)}; fi
[ -z "$report" ] || head -c ${maxReportBytes + 1} -- "$report" >&2 2>/dev/null
exit $code`
  return ['/bin/sh', '-c', script, 'sh', report, environment['PATH'] ?? '', ...command]
}

/** The kernel counts here what it has ended for want of memory, in a container: cgroups of version 2 and 1. */
const outOfMemoryCounts = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']

function say(mark: string): string {
  return `printf '%s\\n' '${mark.trimEnd()}' >&2`
}

/** Says which of its own limits stopped a program that has this exit code: SIGXCPU and SIGXFSZ. */
const limitSignals: Record<number, StopReason> = { 152: 'time', 153: 'file size' }

export function endingOfExit(code: number): ProgramResult['ending'] {
  const reason = limitSignals[code]
  return reason === undefined ? { kind: 'exited', code } : { kind: 'stopped', reason }
}
