import { delimiter, join } from 'node:path'
import type { Env } from './env.ts'
import { installMs, installPackage, type Packager } from './packager.ts'
import type { Obtainable } from './program-cache.ts'
import { type Got, unpackProgram } from './unpack-program.ts'

export type ProgramPlaces = {
  searchPath: string
  /**
   * Holds the programs that Remora downloads: it is made when needed, and searched the next time unless others can
   * write it. Nothing is downloaded when it is undefined.
   */
  programDir: string | undefined
  signal: AbortSignal
  /** The environment of this process; programs get only the part that they need. */
  env: Env
}

export type ObtainOptions = ProgramPlaces & {
  /** Is false when a missing program is not to be installed. */
  mayInstall: boolean
  isRoot: boolean
  installLimitMs?: number
  /** Gets one line, without its newline, before each step that takes long. */
  say(line: string): void
}

export type Place = ObtainOptions & { programDir: string }

type FromPackages = {
  packager: Packager | undefined
  /** Tells the user what is missing. */
  lack: string
  /** The path of the program once it is installed. */
  find(searchPath: string): Promise<string | undefined>
}

/** Gets a program with the system's package manager: unpacked for this user where that is possible, else installed. */
export async function programFromPackages(
  wanted: Obtainable,
  options: Place,
  { packager, lack, find }: FromPackages,
): Promise<Got> {
  if (packager === undefined) return { refusal: 'there is no package manager that Remora knows' }
  const { kind, prefix } = packager
  const getting = `${lack}: getting ${kind.packages[wanted.packages].join(' or ')} with ${kind.program}`
  if (kind.install === undefined) {
    options.say(`${getting} into ${options.programDir} (installs nothing)`)
    const { programDir, installLimitMs: limitMs = installMs } = options
    return unpackProgram(wanted, packager, programDir, { ...options, limitMs })
  }
  if (prefix !== undefined) options.say(`${getting} (starts no service)`)
  const refusal = await installUnharmed(wanted, options, packager)
  if (refusal !== undefined) return { refusal }
  const program = await find([options.searchPath, packager.folder].join(delimiter))
  return program === undefined ? { refusal: `${kind.program} has no ${wanted.title} or later` } : { program }
}

/** When the command is stopped while the package manager is running, the user reads that it continues. */
async function installUnharmed(wanted: Obtainable, options: Place, packager: Packager) {
  const { programDir, signal, env, say, installLimitMs: limitMs = installMs } = options
  const continues = () => say(`${packager.kind.program} is not stopped halfway: it continues in the background`)
  if (packager.prefix !== undefined) signal.addEventListener('abort', continues, { once: true })
  try {
    const logPath = join(programDir, 'package-manager.log')
    return await installPackage(packager, { wanted: wanted.packages, limitMs, logPath, signal, env })
  } finally {
    signal.removeEventListener('abort', continues)
  }
}
