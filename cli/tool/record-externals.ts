import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { ScriptError } from '#tool-scripts/script-error.ts'
import type { HostFunction } from '../../services/worker/tools/host/host-function.ts'

/** One call of a script to its host; without answer and error it was never answered. */
export type ExternalCall = {
  name: string
  args: readonly unknown[]
  answer?: unknown
  error?: { type: string; message: string }
}

/** The functions of `host` that are `declared`; what they are asked and answer goes to `calls`, in the order of asking. */
export function recordExternals(
  host: ReadonlyMap<string, HostFunction>,
  declared: readonly { name: string }[],
  calls: ExternalCall[],
): Record<string, ExternalFunction> {
  const offered = declared.flatMap(({ name }) => {
    const run = host.get(name)
    return run === undefined ? [] : [[name, recorded(name, run, calls)] as const]
  })
  return Object.fromEntries(offered)
}

function recorded(name: string, run: HostFunction, calls: ExternalCall[]): ExternalFunction {
  return async (args) => {
    const call: ExternalCall = { name, args }
    calls.push(call)
    try {
      const answer = await run(args)
      call.answer = answer ?? null
      return answer
    } catch (error) {
      call.error = {
        type: error instanceof ScriptError ? error.pythonType : 'HostError',
        message: error instanceof Error ? error.message : String(error),
      }
      throw error
    }
  }
}
