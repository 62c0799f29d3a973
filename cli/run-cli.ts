import { CommanderError } from 'commander'
import type { Env } from '#platform/env.ts'
import type { CliContext } from './cli-context.ts'
import { buildProgram } from './program.ts'

const interrupted = 130
/** `doctor` reports faults of the settings itself. */
const worksWithoutSettings = new Set(['help', 'doctor', 'completion', 'complete'])

export type CliCall = Omit<CliContext, 'config' | 'io' | 'colored' | 'signal' | 'verbose'> & {
  env: Env
  /** Is called before a command runs. */
  openSignal(): Promise<AbortSignal>
  out(text: string): void
  err(text: string): void
  isTerminal: boolean
}

/** Runs the command line once and returns the exit code (130 after Ctrl-C). */
export async function runCli(args: readonly string[], call: CliCall): Promise<number> {
  const { env, isTerminal, out, err, openSignal, ...same } = call
  let exitCode = 0
  const io = { out, err, exit: (code: number) => void (exitCode = code) }
  let context: Omit<CliContext, 'verbose'> | undefined
  const openContext = async () => {
    const [{ readCliSettings }, signal] = await Promise.all([import('./read-cli-settings.ts'), openSignal()])
    const config = readCliSettings(args, env, call.cwd)
    const colored = config.color === 'always' || (config.color === 'terminal' && isTerminal)
    return (context = { ...same, io, config, colored, signal })
  }
  try {
    const program = buildProgram({ io, openContext })
    program.hook('preAction', (_, command) => {
      const fault = context?.config.settings.fault
      if (fault !== undefined && !worksWithoutSettings.has(command.name())) throw fault
    })
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const isJson = args.includes('--json')
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { describeFailure, isWrongUsage, usageDocument } = await import('./describe-failure.ts')
    if (error instanceof CommanderError) {
      if (isJson) out(`${JSON.stringify(usageDocument(error))}\n`)
      return 2
    }
    if (context?.signal.aborted === true) {
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
