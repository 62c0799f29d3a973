import { availableParallelism } from 'node:os'
import type { Writable } from 'node:stream'

/** A program, the files that it finds, and what it may use. */
export type SandboxedProgram = {
  /** Looked up on the sandbox's PATH, which has this process's own `node` and the system's programs. */
  command: readonly [string, ...string[]]
  files: ProgramFiles
  environment?: Readonly<Record<string, string>>
  /** A file of the sandbox that the program writes, whose first `maxReportBytes` are returned. */
  report?: string
  mounts?: readonly SandboxMount[]
  /** Further folders of its own that it may write, empty at first, each as large as the working folder. */
  folders?: readonly string[]
  /** Gets what the program writes to its descriptor 6. The program waits while that takes no more. */
  result?: Writable
  limits: SandboxLimits
}

/** A file or folder of this machine, `from`, that a program finds at `to`, read-only. */
export type SandboxMount = { from: string; to: string }

/** What is put into the working folder: `base`, without what is `deleted`, and then `changed`. */
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
  /** Of all its processes together, without files. */
  memoryBytes: number
  /** Of the working folder and of /tmp, each: both are kept in memory. */
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
  /** What it wrote to stdout and stderr, in that order. `cutBytes` are missing in the middle of it, where a line says so. */
  output: string
  cutBytes: number
  report: Uint8Array | undefined
  /** Whether the report was longer than `maxReportBytes`. */
  isReportCut: boolean
  durationMs: number
}

export const workFolder = '/workspace'
/** What is mounted here is laid into the working folder before the program's files. */
export const addedFolder = '/remora/added'
export const homeFolder = '/tmp/home'
export const maxReportBytes = 16 * 1024 ** 2
/** What the launcher writes to its stderr once the files are there; what follows is the report. Or when they cannot be laid out. */
export const startedMark = 'remora: started\n'
export const filesMark = 'remora: files\n'

/** Names of the tar that the launcher reads from its stdin: the changed files below the first, deleted paths, ended by NUL, in the second. */
export const changesTar = { files: 'files/', deleted: 'deleted' }

/** Of what Node maps it never uses this much; the memory of all processes is watched as well. */
const unusedBytes = 1024 ** 3
const changesFolder = '/tmp/.remora'

/**
 * The shell command of the first process in a sandbox. Its stdin is a tar of changes, its stdout the program's output, its
 * stderr `startedMark` and the report. `unpackBase` is a shell command. The program is given none of these pipes but its output; since it is
 * the same user it could find the others, so what comes from them is believed as little as the program itself.
 */
export function launcherOf({ command, report = '', limits }: SandboxedProgram, unpackBase: string): string[] {
  const { wallMs, memoryBytes, diskBytes, processes } = limits
  const script = `
set -e
umask 022
cd ${workFolder}
{
  mkdir -p ${changesFolder}/${changesTar.files} ${homeFolder} &&
    { [ ! -d ${addedFolder} ] || cp -R ${addedFolder}/. .; } &&
    ${unpackBase} &&
    tar -xf - -C ${changesFolder} &&
    xargs -0r rm -rf -- <${changesFolder}/${changesTar.deleted} &&
    cp -R --remove-destination ${changesFolder}/${changesTar.files}. . &&
    rm -rf ${changesFolder}
} || {
  printf '%s\\n' '${filesMark.trimEnd()}' >&2
  exit 1
}
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
printf '%s\\n' '${startedMark.trimEnd()}' >&2
report=$1 cpu=$2 data=$3 size=$4 processes=$5
shift 5
set +e
nice -n 10 prlimit --cpu="$cpu" --data="$data" --fsize="$size" --nproc="$processes" --core=0 --nofile=1024 -- "$@" </dev/null 2>&1
code=$?
[ -z "$report" ] || head -c ${maxReportBytes + 1} -- "$report" >&2 2>/dev/null
exit $code`
  // Of a process its threads count together, and the kernel's first warning is what tells this limit from others.
  const cpuS = Math.ceil(wallMs / 1_000) * availableParallelism()
  const numbers = [`${cpuS}:${cpuS + 5}`, memoryBytes + unusedBytes, diskBytes, processes]
  return ['/bin/sh', '-c', script, 'sh', report, ...numbers.map(String), ...command]
}

/** How a program that has exited was stopped by one of its own limits: SIGXCPU and SIGXFSZ. */
const limitSignals: Record<number, StopReason> = { 152: 'time', 153: 'file size' }

export function endingOfExit(code: number): ProgramResult['ending'] {
  const reason = limitSignals[code]
  return reason === undefined ? { kind: 'exited', code } : { kind: 'stopped', reason }
}
