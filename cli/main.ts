import '#platform/lean-v8.ts'
import { CommanderError } from 'commander'
import { asAppError } from '#domain/error.ts'
import type { CommandIo } from './cli-context.ts'
import { delay } from '#platform/clock.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { readCliConfig, type CliConfig } from './cli-config.ts'
import { describeFailure, isWrongUsage, usageDocument } from './describe-failure.ts'
import { onInterrupt } from './interrupt.ts'
import { buildProgram } from './program.ts'

const interrupted = 130
/** `doctor` reports faults of the settings itself. */
const worksWithoutSettings = new Set(['help', 'doctor', 'completion', 'complete'])
let exitCode = 0

const io: CommandIo = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  exit: (code) => void (exitCode = code),
}

/** Inside a hook or an alias of git these name its repository and index, not those of the folder that a command is given. */
const ofOtherRepository = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
]

/** Runs the command line once and returns the exit code (130 after Ctrl-C). */
async function main(args: readonly string[]): Promise<number> {
  for (const name of ofOtherRepository) Reflect.deleteProperty(process.env, name)
  const signal = onInterrupt({ startedByNpx: process.env['npm_command'] === 'exec' })
  try {
    const config = readSettings(args)
    const colored = config.color === 'always' || (config.color === 'terminal' && process.stdout.isTTY)
    const terminal = process.stderr.isTTY ? process.stderr : undefined
    const { columns } = process.stdout
    const program = buildProgram({ io, config, signal, terminal, colored, columns, cwd: process.cwd() })
    program.hook('preAction', (_, command) => {
      if (config.settings.fault !== undefined && !worksWithoutSettings.has(command.name())) throw config.settings.fault
    })
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const isJson = args.includes('--json')
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0 && isJson) io.out(`${JSON.stringify(usageDocument(error))}\n`)
      return error.exitCode === 0 ? 0 : 2
    }
    if (signal.aborted) {
      if (isJson) io.out(`${JSON.stringify({ error: { error_code: null, message: 'interrupted' } })}\n`)
      return interrupted
    }
    const { text, document } = describeFailure(error)
    if (isJson) io.out(`${JSON.stringify(document)}\n`)
    io.err(text)
    return isWrongUsage(error) ? 2 : 1
  }
  return exitCode
}

/** The effective settings. When they are invalid, none of them counts and `fault` has the error. */
function readSettings(args: readonly string[]): CliConfig {
  const named = fileOfConfigFlag(args)
  const own = named === undefined ? process.env : { ...process.env, REMORA_CONFIG: named }
  try {
    const { env, ...settings } = loadSettings(own, process.cwd())
    return readCliConfig(env, { ...settings, own })
  } catch (error) {
    const { PATH, HOME, TERM, NO_COLOR } = process.env
    const fault = asAppError(error, 'CONFIG_003')
    return readCliConfig({ PATH, HOME, TERM, NO_COLOR }, { path: undefined, given: [], own: {}, fault })
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

/**
 * A pipe takes 64 KiB at a time, and the rest is lost when the process exits. Resolves also when the reader has closed it.
 */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()))
}

// Keeps the process alive until the command has ended: what it waits for may not, such as the timers of the model pool.
void delay(Infinity)
const code = await main(process.argv.slice(2))
await Promise.all([flushed(process.stdout), flushed(process.stderr)])
process.exit(code)
