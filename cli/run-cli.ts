import { CommanderError } from 'commander'
import { asAppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { loadSettings } from '#settings/load-settings.ts'
import type { CliContext } from './cli-context.ts'
import { readCliConfig, type CliConfig } from './cli-config.ts'
import { describeFailure, isWrongUsage, usageDocument } from './describe-failure.ts'
import { buildProgram } from './program.ts'

const interrupted = 130
/** `doctor` reports faults of the settings itself. */
const worksWithoutSettings = new Set(['help', 'doctor', 'completion', 'complete'])

export type CliCall = Omit<CliContext, 'config' | 'io' | 'colored' | 'verbose'> & {
  env: Env
  out(text: string): void
  err(text: string): void
  isTerminal: boolean
}

/** Runs the command line once and returns the exit code (130 after Ctrl-C). */
export async function runCli(args: readonly string[], call: CliCall): Promise<number> {
  const { env, isTerminal, out, err, ...same } = call
  let exitCode = 0
  const io = { out, err, exit: (code: number) => void (exitCode = code) }
  try {
    const config = readSettings(args, env, call.cwd)
    const colored = config.color === 'always' || (config.color === 'terminal' && isTerminal)
    const program = await buildProgram({ ...same, io, config, colored }, args)
    program.hook('preAction', (_, command) => {
      if (config.settings.fault !== undefined && !worksWithoutSettings.has(command.name())) throw config.settings.fault
    })
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const isJson = args.includes('--json')
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0 && isJson) out(`${JSON.stringify(usageDocument(error))}\n`)
      return error.exitCode === 0 ? 0 : 2
    }
    if (call.signal.aborted) {
      if (isJson) out(`${JSON.stringify({ error: { error_code: null, message: 'interrupted' } })}\n`)
      return interrupted
    }
    const { text, document } = describeFailure(error)
    if (isJson) out(`${JSON.stringify(document)}\n`)
    err(text)
    return isWrongUsage(error) ? 2 : 1
  }
  return exitCode
}

/** Returns the effective settings. When they are invalid, none of them counts and `fault` has the error. */
function readSettings(args: readonly string[], given: Env, cwd: string): CliConfig {
  const named = fileOfConfigFlag(args)
  const own = named === undefined ? given : { ...given, REMORA_CONFIG: named }
  try {
    const { env, ...settings } = loadSettings(own, cwd)
    return readCliConfig(env, { ...settings, own }, cwd)
  } catch (error) {
    const { PATH, HOME, TERM, NO_COLOR } = given
    const fault = asAppError(error, 'CONFIG_003')
    return readCliConfig({ PATH, HOME, TERM, NO_COLOR }, { path: undefined, given: [], own: {}, fault }, cwd)
  }
}

/** `--config FILE` must be known before the other options are parsed, because it decides their defaults. */
function fileOfConfigFlag(args: readonly string[]): string | undefined {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  const at = options.findLastIndex((arg) => arg === '--config' || arg.startsWith('--config='))
  const flag = options[at]
  return flag === '--config' ? options[at + 1] : flag?.slice('--config='.length)
}
