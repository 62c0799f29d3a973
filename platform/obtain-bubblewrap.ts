import { join } from 'node:path'
import type { Env } from './env.ts'
import { type ObtainOptions, type ProgramPlaces, programFromPackages } from './obtain-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-file.ts'
import { findPackager } from './packager.ts'
import { bubblewrap, programCache } from './program-cache.ts'
import { findProgram } from './run-program.ts'

/** Returns the folder for bubblewrap. Root's is not in its home: programs in the sandbox are started as a user who cannot look in there. */
export function bubblewrapDir(env: Env, isRoot: boolean): string | undefined {
  const isChosen = (env['XDG_CACHE_HOME'] ?? '') !== ''
  return isRoot && !isChosen ? '/var/cache/remora' : programCache(env)
}

/** The path of a bubblewrap on the PATH, or of one that an earlier call got. */
export async function findBubblewrap({ searchPath, programDir, ...look }: ProgramPlaces): Promise<string | undefined> {
  const installed = await findProgram(bubblewrap.name, searchPath)
  const own = programDir !== undefined && (await isOwnFolder(programDir)) ? [join(programDir, bubblewrap.name)] : []
  for (const path of [...(installed === undefined ? [] : [installed]), ...own]) {
    if ((await bubblewrap.examine(path, look))?.fits === true) return path
  }
  return undefined
}

/** The same, or one from a package manager that asks for no password. Else why there is none, and how a person gets it. */
export async function obtainBubblewrap(options: ObtainOptions): Promise<{ path: string } | { lack: string }> {
  const found = await findBubblewrap(options)
  if (found !== undefined) return { path: found }
  const packager = await findPackager(options)
  const lack = 'bubblewrap is not installed'
  const byHand = packager === undefined ? 'install bubblewrap' : packager.byHand('bubblewrap')
  const { programDir } = options
  if (!options.mayInstall || programDir === undefined) return { lack: `${lack}: ${byHand}` }
  if (!(await makeOwnFolder(programDir, options.isRoot ? 0o755 : 0o700)))
    return { lack: `${lack}, and ${programDir} is not writable: ${byHand}` }
  const find = (searchPath: string) => findBubblewrap({ ...options, searchPath })
  const got = await programFromPackages(bubblewrap, { ...options, programDir }, { packager, lack, find })
  return 'program' in got ? { path: got.program } : { lack: `${lack} (${got.refusal}): ${byHand}` }
}
