import { fileURLToPath } from 'node:url'
import { startLimitedProcess, type LimitedProcess, type ProcessListeners } from './limited-process.ts'
import { FromScriptProcess } from './script-protocol.ts'

export type ScriptProcess = LimitedProcess

const file = fileURLToPath(new URL('script-child.ts', import.meta.url))

/** Starts a process that runs scripts. */
export function startScriptProcess(listeners: ProcessListeners<FromScriptProcess>): ScriptProcess {
  return startLimitedProcess({ file, message: FromScriptProcess }, listeners)
}
