import type { ScriptEvent } from '#tool-scripts/script-event.ts'

/** One line of `--events`. What a process could not tell is null. */
export function scriptEventView(event: ScriptEvent) {
  if (event.type === 'run_start') return event
  const { wallMs, ownMs, externalCalls, printedChars, ...told } = event
  return {
    ...told,
    wall_ms: wallMs,
    own_ms: ownMs ?? null,
    external_calls: externalCalls,
    printed_chars: printedChars ?? null,
  }
}
