import type { ScriptLimitPreset, ScriptUse } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import type { ScriptEnding } from './script-ending.ts'

export type ScriptLimits = {
  memoryBytes: number
  /** The script's own running time; waiting for the host does not count. */
  durationMs: number
  recursionDepth: number
  /** Limits the JSON text of the inputs, of the result, of the arguments of one call to the host, and of one answer. */
  valueBytes: number
  /** Limits the printed text that is kept; the rest is only counted. */
  printedBytes: number
  /** Calls to externals, and the JSON text of all their arguments and answers together. */
  externalCalls: number
  journalBytes: number
}

const mebibyte = 1024 * 1024
const common = {
  valueBytes: 4 * mebibyte,
  printedBytes: 64 * 1024,
  externalCalls: 10_000,
  journalBytes: 32 * mebibyte,
}

const scriptLimitPresets = {
  strict: { memoryBytes: 8 * mebibyte, durationMs: 500, recursionDepth: 120, ...common },
  default: { memoryBytes: 16 * mebibyte, durationMs: 2_000, recursionDepth: 200, ...common },
  permissive: { memoryBytes: 64 * mebibyte, durationMs: 5_000, recursionDepth: 400, ...common },
} as const satisfies Record<ScriptLimitPreset, ScriptLimits>

export type ChosenLimits = Partial<ScriptLimits> & { preset?: ScriptLimitPreset }

export function scriptLimits({ preset = 'default', ...overrides }: ChosenLimits = {}): ScriptLimits {
  return { ...scriptLimitPresets[preset], ...overrides }
}

/** Turns what a bundle says of its scripts into limits as the pool takes them. */
export function limitsOfBundle({ preset, memory_mb, timeout_s, recursion }: ScriptUse): ChosenLimits {
  return {
    preset,
    ...(memory_mb === undefined ? {} : { memoryBytes: memory_mb * mebibyte }),
    ...(timeout_s === undefined ? {} : { durationMs: timeout_s * 1_000 }),
    ...(recursion === undefined ? {} : { recursionDepth: recursion }),
  }
}

/** The ending of a script whose journal exceeds a limit; undefined within the limits. */
export function fullJournal(
  { calls, size }: { calls: number; size: number },
  { externalCalls, journalBytes }: ScriptLimits,
): ScriptEnding | undefined {
  if (calls > externalCalls) {
    const message = `the script called externals more than ${externalCalls} times`
    return { kind: 'stopped', code: 'TOOL_006', limit: 'external_calls', message }
  }
  if (size <= journalBytes) return undefined
  const message = `the arguments and answers of all external calls are larger than ${journalBytes} bytes together`
  return { kind: 'stopped', code: 'TOOL_006', limit: 'journal_size', message }
}

/** The JSON length of a call; it is counted before the external runs. */
export function askedSize({ name, args }: Pick<JournalEntry, 'name' | 'args'>): number {
  return JSON.stringify({ name, args }).length
}

/** The JSON length of the answer; it is added to `askedSize`. */
export function answerSize(entry: JournalEntry): number {
  return JSON.stringify('error' in entry ? entry.error : (entry.answer ?? null)).length
}

/** The size of a journal, counted as while it was written, so that a replay meets the limit at the same call. */
export function journalSize(journal: readonly JournalEntry[]): number {
  try {
    return journal.reduce((size, entry) => size + askedSize(entry) + answerSize(entry), 0)
  } catch (cause) {
    throw new AppError('ASK_004', 'the journal of the earlier run is no JSON', { cause })
  }
}
