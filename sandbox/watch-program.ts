import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import {
  endingOfExit,
  endMarks,
  filesMark,
  maxOutputBytes,
  maxReportBytes,
  type ProgramResult,
  type SandboxLimits,
  startedMark,
  type StopReason,
} from './sandboxed-program.ts'

/** A launcher on its way: its stdout and stderr are those of the process that a runtime has started. */
export type Launched = {
  child: ChildProcess
  input: AsyncIterable<Uint8Array>
  /** Is true where the stdin stays open as long as the program may run. */
  holdsInput?: boolean
  /** Ends the sandbox with all that is in it, and so `child`; it may be called again, and when `child` has ended. */
  kill(): void
  /** Calls `stop` when the program uses more than it may, until the returned function is called. */
  watch?(stop: (reason: StopReason) => void): () => void
}

export type Watched = Omit<ProgramResult, 'durationMs'> & {
  /** Is true when the launcher has seen the program end, false when something else ended it. */
  isWhole: boolean
}

/** Waits until the program has ended, within its time and output. TOOL_005 when it was not started; the reason of `signal` when aborted. */
export async function watchProgram(
  { child, input, holdsInput = false, kill, watch = () => () => {} }: Launched,
  limits: SandboxLimits,
  signal: AbortSignal,
): Promise<Watched> {
  const exit = once(child, 'close').then(
    ([code]: unknown[]) => ({ code, fault: undefined }),
    (error: Error) => ({ code: null, fault: error.message }),
  )
  let stopped: StopReason | undefined
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
  const stopWatching = watch(stop)
  try {
    const fed = await feed(child, input, holdsInput)
    const { code, fault } = await exit
    signal.throwIfAborted()
    const said = control.read()
    const { text, cutBytes } = output.text()
    const report = said?.report
    const ended = {
      output: text,
      cutBytes,
      report: report?.length === 0 ? undefined : report?.subarray(0, maxReportBytes),
      isReportCut: (report?.length ?? 0) > maxReportBytes,
      isWhole: said?.end !== undefined,
    }
    if (stopped !== undefined) return { ...ended, ending: { kind: 'stopped', reason: stopped } }
    if (said === undefined) return notStarted(fault ?? control.text(), fed)
    if (said.end === 'memory') return { ...ended, ending: { kind: 'stopped', reason: 'memory' } }
    return { ...ended, ending: endingOfExit(typeof code === 'number' ? code : 137) }
  } finally {
    kill()
    stopWatching()
    cancelLimit()
    signal.removeEventListener('abort', kill)
  }
}

/** Gives the sandbox its files. Undefined, or why they did not get there: the launcher has ended, and says why. */
async function feed(
  { stdin }: ChildProcess,
  input: Launched['input'],
  holdsInput: boolean,
): Promise<string | undefined> {
  if (stdin === null) return undefined
  return pipeline(input, stdin, { end: !holdsInput }).then(
    () => undefined,
    (error: Error) => error.message,
  )
}

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
    read(): { end: keyof typeof endMarks | undefined; report: Buffer } | undefined {
      const all = text()
      const at = all.indexOf(startedMark)
      if (at === -1) return undefined
      const rest = all.subarray(at + startedMark.length)
      for (const end of ['ended', 'memory'] as const) {
        const mark = endMarks[end]
        if (rest.subarray(0, mark.length).equals(Buffer.from(mark))) return { end, report: rest.subarray(mark.length) }
      }
      return { end: undefined, report: rest.subarray(0, 0) }
    },
  }
}

function notStarted(words: string, why = 'it says nothing'): Watched {
  if (words.endsWith(filesMark.trimEnd())) {
    const nothing = { output: '', cutBytes: 0, report: undefined, isReportCut: false, isWhole: true }
    return { ending: { kind: 'stopped', reason: 'files' }, ...nothing }
  }
  throw new AppError('TOOL_005', `the sandbox did not start: ${words === '' ? why : words.slice(-500)}`)
}

const headBytes = 32 * 1024
const tailBytes = 96 * 1024

type BoundedOutput = {
  add(chunk: Buffer): void
  bytes(): number
  /** Decodes UTF-8; where something is missing, a line says how much. */
  text(): { text: string; cutBytes: number }
}

/** Keeps the beginning and the end of what a program writes, and counts the rest. */
function openBoundedOutput(): BoundedOutput {
  const head: Buffer[] = []
  let tail: Buffer[] = []
  let [all, inHead, inTail] = [0, 0, 0]
  return {
    add(chunk) {
      all += chunk.length
      const first = chunk.subarray(0, headBytes - inHead)
      if (first.length > 0) head.push(first)
      inHead += first.length
      if (first.length === chunk.length) return
      tail.push(chunk.subarray(first.length))
      inTail += chunk.length - first.length
      if (inTail <= 2 * tailBytes) return
      tail = [lastOf(tail)]
      inTail = tailBytes
    },
    bytes: () => all,
    text() {
      const end = lastOf(tail)
      const cutBytes = all - inHead - end.length
      const start = Buffer.concat(head)
      if (cutBytes === 0) return { text: Buffer.concat([start, end]).toString(), cutBytes }
      return { text: `${start.toString()}\n[${cutBytes} bytes left out]\n${end.toString()}`, cutBytes }
    },
  }
}

function lastOf(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat(chunks).subarray(-tailBytes)
}
