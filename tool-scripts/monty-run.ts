import { Monty, MontyComplete, MontyNameLookup, MontySnapshot } from '@pydantic/monty'
import type { JournalEntry } from '#domain/external-journal.ts'
import { mangledName } from './script-declarations.ts'
import { endingOfError } from './monty-errors.ts'
import { plainValue } from './plain-value.ts'
import { openPrintedText, type PrintedText } from './printed-text.ts'
import { replayJournal, type ExternalAnswer, type JournalReplay } from './replay-journal.ts'
import type { ScriptEnding } from './script-ending.ts'
import type { ScriptLimits } from './script-limits.ts'

type Progress = MontySnapshot | MontyNameLookup | MontyComplete

/** A script in the process. `monty` is set once it has been compiled. */
export type MontyScript = { path: string; code: string; inputs: string[]; externals: string[]; monty?: Monty }

/** Says how far a script ran: it waits for an external, or it ended. */
export type ScriptStep = { kind: 'call'; name: string; args: unknown[] } | { kind: 'end'; ending: ScriptEnding }
export type RunParts = { inputs: Record<string, unknown>; limits: ScriptLimits; journal: readonly JournalEntry[] }

export type MontyRun = {
  script: MontyScript
  limits: ScriptLimits
  printed: PrintedText
  replay: JournalReplay
  waiting: MontySnapshot | undefined
  ownMs: number
  /** Counts waiting time since Monty's clock was last reset. */
  pausedMs: number
  pausedAt: number
  /** Counts the memory of copies of the script that are no longer used. */
  copiedBytes: number
}

/** Monty's clock also runs while a script waits; it is reset after waiting for this share of the time limit. */
const pauseShare = 0.05

/** Runs a script to its end or the first call that the journal does not answer. Never throws: an error is an ending. */
export function startMonty(script: MontyScript, parts: RunParts): { run: MontyRun; step: ScriptStep } {
  const { inputs, limits } = parts
  const printed = openPrintedText(limits.printedBytes)
  const run: MontyRun = {
    script,
    limits,
    printed,
    replay: replayJournal(parts.journal),
    waiting: undefined,
    ownMs: 0,
    pausedMs: 0,
    pausedAt: 0,
    copiedBytes: 0,
  }
  const step = advance(run, () => {
    script.monty ??= new Monty(script.code, { scriptName: script.path, inputs: script.inputs })
    return script.monty.start({
      ...(script.inputs.length > 0 ? { inputs } : {}),
      limits: {
        maxMemory: limits.memoryBytes,
        maxDurationSecs: limits.durationMs / 1000,
        maxRecursionDepth: limits.recursionDepth,
      },
      printCallback: printed.add,
    })
  })
  return { run, step }
}

export function resumeMonty(run: MontyRun, answer: ExternalAnswer): ScriptStep {
  run.pausedMs += performance.now() - run.pausedAt
  return advance(run, () => {
    if (run.waiting === undefined) throw new Error('the script does not wait')
    if (run.pausedMs > run.limits.durationMs * pauseShare) {
      const dump = run.waiting.dump()
      run.copiedBytes += 2 * dump.length
      run.waiting = MontySnapshot.load(dump, { printCallback: run.printed.add })
      run.pausedMs = 0
    }
    return goOn(run.waiting, answer)
  })
}

function advance(run: MontyRun, move: () => Progress): ScriptStep {
  const began = performance.now()
  const spend = (): void => {
    run.pausedAt = performance.now()
    run.ownMs += run.pausedAt - began
  }
  try {
    const step = stepOf(run, move())
    spend()
    const { durationMs } = run.limits
    if (step.kind === 'end' || run.ownMs <= durationMs) return step
    const message = `the script ran longer than its limit of ${durationMs} ms`
    return { kind: 'end', ending: { kind: 'stopped', code: 'TOOL_003', limit: 'duration', message } }
  } catch (error) {
    spend()
    const ending = endingOfError(error, run)
    const missing = ending.kind === 'raised' ? run.replay.missing() : undefined
    return { kind: 'end', ending: missing === undefined ? ending : endingOfError(missing, run) }
  }
}

function stepOf(run: MontyRun, first: Progress): ScriptStep {
  let progress = first
  while (!(progress instanceof MontyComplete)) {
    if (progress instanceof MontyNameLookup) {
      progress = progress.resume()
      continue
    }
    const called = progress.functionName
    const name = run.script.externals.find((external) => mangledName(external) === called)
    if (name !== undefined && Object.keys(progress.kwargs).length === 0) {
      const args = progress.args.map((arg) => plainValue(arg, run.limits.valueBytes))
      const answer = run.replay.answer(name, args)
      if (answer === undefined) {
        run.waiting = progress
        return { kind: 'call', name, args }
      }
      progress = goOn(progress, answer)
      continue
    }
    progress = progress.resume({ exception: { type: 'NameError', message: `name '${called}' is not defined` } })
  }
  const missing = run.replay.missing()
  if (missing !== undefined) throw missing
  const value = plainValue(progress.output, run.limits.valueBytes)
  return { kind: 'end', ending: { kind: 'returned', value, printed: run.printed.text() } }
}

function goOn(waiting: MontySnapshot, answer: ExternalAnswer): Progress {
  return 'value' in answer ? waiting.resume({ returnValue: answer.value }) : raise(waiting, answer)
}

/** Monty rejects an exception type that Python does not have, without consuming the snapshot. */
function raise(waiting: MontySnapshot, exception: { type: string; message: string }): Progress {
  try {
    return waiting.resume({ exception })
  } catch (error) {
    if (!(error instanceof Error) || 'exception' in error) throw error
    const message = `${exception.type}: ${exception.message}`
    return waiting.resume({ exception: { type: 'RuntimeError', message } })
  }
}
