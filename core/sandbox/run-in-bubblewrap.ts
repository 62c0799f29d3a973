import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#domain/error.ts'
import { after, msSince } from '#platform/clock.ts'
import { plainTar, type TarItem } from '#platform/gzipped-tar.ts'
import { openBoundedOutput } from './bounded-output.ts'
import { bubblewrapArgs, descriptors, type SystemMounts, ownFiles } from './bubblewrap.ts'
import {
  changesTar,
  endingOfExit,
  filesMark,
  maxOutputBytes,
  maxReportBytes,
  type ProgramFiles,
  type ProgramResult,
  type SandboxedProgram,
  startedMark,
  type StopReason,
} from './sandboxed-program.ts'
import { type ProcessUse, watchProcesses } from './watch-processes.ts'

export type Bubblewrap = { path: string; mounts: SystemMounts; isRoot: boolean }

/** In place of root, since limits on processes do not hold for it, and its files are not a program's to read. */
const nobody = 65_534

/**
 * Runs a program in a sandbox of its own, of which nothing is left when it ends. Throws TOOL_005 where bwrap does not work, the reason
 * of `signal` when that is aborted, and what reading the program's files throws. Everything else is a result.
 */
export async function runInBubblewrap(
  program: SandboxedProgram,
  { path, mounts, isRoot }: Bubblewrap,
  signal: AbortSignal,
): Promise<ProgramResult> {
  signal.throwIfAborted()
  const start = performance.now()
  const base = await program.files.base?.()
  try {
    signal.throwIfAborted()
    const child = spawn(path, bubblewrapArgs(program, mounts), {
      cwd: '/',
      env: {},
      stdio: [
        'pipe',
        'pipe',
        'pipe',
        base ?? 'ignore',
        'pipe',
        'pipe',
        program.result === undefined ? 'ignore' : 'pipe',
      ],
      ...(isRoot ? { uid: nobody, gid: nobody } : {}),
    })
    const ended = await watchedChild(child, program, signal)
    return { ...ended, durationMs: msSince(start) }
  } finally {
    if (base !== undefined) closeSync(base)
  }
}

async function watchedChild(
  child: ChildProcess,
  { files, limits, result }: SandboxedProgram,
  signal: AbortSignal,
): Promise<Omit<ProgramResult, 'durationMs'>> {
  const exit = once(child, 'close').then(
    ([code]: unknown[]) => ({ code, fault: undefined }),
    (error: Error) => ({ code: null, fault: error.message }),
  )
  let stopped: StopReason | undefined
  // The kernel then ends the first process of the sandbox (--die-with-parent), and with that all others.
  const kill = () => void child.kill('SIGKILL')
  const stop = (reason: StopReason) => {
    stopped ??= reason
    kill()
  }
  const output = openBoundedOutput()
  const control = openControl(() => stop('output'))
  child.stdout?.on('data', (chunk: Buffer) => {
    output.add(chunk)
    if (output.bytes() > maxOutputBytes) stop('output')
  })
  child.stderr?.on('data', control.add)
  signal.addEventListener('abort', kill, { once: true })
  const cancelLimit = after(limits.wallMs, () => stop('time'))
  const stopWatching =
    child.pid === undefined ? () => {} : watchProcesses(child.pid, (use) => overuse(use, limits, stop))
  const passing = passOn(child, result)
  try {
    const fed = await feed(child, files)
    const { code, fault } = await exit
    await passing
    signal.throwIfAborted()
    const report = control.report()
    const said = output.text()
    const isReportCut = (report?.length ?? 0) > maxReportBytes
    const whole = report?.length === 0 ? undefined : report?.subarray(0, maxReportBytes)
    const ended = { output: said.text, cutBytes: said.cutBytes, report: whole, isReportCut }
    if (stopped !== undefined) return { ...ended, ending: { kind: 'stopped', reason: stopped } }
    if (report === undefined) return notStarted(fault ?? control.text(), fed)
    return { ...ended, ending: endingOfExit(typeof code === 'number' ? code : 137) }
  } finally {
    kill()
    stopWatching()
    cancelLimit()
    signal.removeEventListener('abort', kill)
  }
}

function overuse(
  { processes, bytes }: ProcessUse,
  limits: SandboxedProgram['limits'],
  stop: (why: StopReason) => void,
) {
  if (bytes > limits.memoryBytes) stop('memory')
  // bwrap itself, the first process of the sandbox and its shell are not the program's.
  else if (processes > limits.processes + 3) stop('processes')
}

/** Gives the sandbox its files. Undefined, or why they did not get there: the launcher has ended, and says why. */
async function feed(child: ChildProcess, { changed = [], deleted = [] }: ProgramFiles): Promise<string | undefined> {
  for (const [descriptor, text] of ownFiles) {
    const file = child.stdio.at(descriptor)
    if (file instanceof Writable) file.on('error', () => {}).end(text)
  }
  const list = {
    path: changesTar.deleted,
    executable: false,
    content: Buffer.from(deleted.map((path) => `${path}\0`).join('')),
  }
  const items: TarItem[] = [list, ...changed.map((file) => ({ ...file, path: `${changesTar.files}${file.path}` }))]
  if (child.stdin === null) return undefined
  return pipeline(plainTar(items), child.stdin).then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** Until the program has ended, or `result` takes no more, which the program then notices. */
async function passOn(child: ChildProcess, result: Writable | undefined): Promise<void> {
  const from = child.stdio.at(descriptors.result)
  if (result !== undefined && from instanceof Readable) await pipeline(from, result).catch(() => {})
}

/** What the launcher says: its mark and the report, or what went wrong before the program started. */
function openControl(onFlood: () => void) {
  const chunks: Buffer[] = []
  let bytes = 0
  const text = () => Buffer.concat(chunks)
  return {
    add(chunk: Buffer) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxReportBytes + 64 * 1024) onFlood()
    },
    text: () => text().toString().trim(),
    /** Undefined when the program has not started. */
    report() {
      const all = text()
      const at = all.indexOf(startedMark)
      return at === -1 ? undefined : all.subarray(at + startedMark.length)
    },
  }
}

/** The files were too many, or there is no sandbox at all. */
function notStarted(words: string, why = 'it says nothing'): Omit<ProgramResult, 'durationMs'> {
  if (words.endsWith(filesMark.trimEnd())) {
    return {
      ending: { kind: 'stopped', reason: 'files' },
      output: '',
      cutBytes: 0,
      report: undefined,
      isReportCut: false,
    }
  }
  throw new AppError('TOOL_005', `the sandbox did not start: ${words === '' ? why : words.slice(-500)}`)
}
