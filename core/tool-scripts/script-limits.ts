import type { ScriptLimitPreset } from '#domain/script-limit-preset.ts'

/** What one execution of a script may use. */
export type ScriptLimits = {
  memoryBytes: number
  /** The script's own running time; waiting for the host does not count. */
  durationMs: number
  recursionDepth: number
  /** JSON text of the inputs, of the result, of the arguments of one call to the host, and of one answer. */
  valueBytes: number
  /** Printed text that is kept; the rest is counted, not kept. */
  printedBytes: number
  /** Calls to the host, and the JSON text of all their arguments and answers together: what is kept of a run. */
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

/** Features.md G4. */
const scriptLimitPresets = {
  strict: { memoryBytes: 8 * mebibyte, durationMs: 500, recursionDepth: 120, ...common },
  default: { memoryBytes: 16 * mebibyte, durationMs: 2_000, recursionDepth: 200, ...common },
  permissive: { memoryBytes: 64 * mebibyte, durationMs: 5_000, recursionDepth: 400, ...common },
} as const satisfies Record<ScriptLimitPreset, ScriptLimits>

/** A preset, and what differs from it. */
export type ChosenLimits = Partial<ScriptLimits> & { preset?: ScriptLimitPreset }

export function scriptLimits({ preset = 'default', ...overrides }: ChosenLimits = {}): ScriptLimits {
  return { ...scriptLimitPresets[preset], ...overrides }
}
