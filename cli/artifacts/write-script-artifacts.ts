import { basename, join } from 'node:path'
import { findScripts, type FoundScript } from '#bundles/find-scripts.ts'
import { hostInputNames } from '#bundles/host-inputs.ts'
import { nearProfile } from '#bundles/near-profile.ts'
import { AppError } from '#domain/error.ts'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { checkScript } from '#tool-scripts/check-script.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import { parseScript } from '#tool-scripts/parse-script.ts'
import { scriptArtifactNames, scriptArtifacts } from '#tool-scripts/script-artifacts.ts'
import { writeArtifacts } from './artifact-folder.ts'
import { artifactPlace } from './artifact-place.ts'

/** `profile`: for every script, whatever its bundle says. */
export type ArtifactOrder = { dir: string; cwd: string; profile?: ScriptProfile | undefined }

/**
 * Writes what the compiler makes of each tool script under `paths` into `dir`, one folder a script; answers those
 * folders. CONFIG_003, before anything is written, when scripts of two bundles of one name would share a folder.
 */
export async function writeScriptArtifacts(
  paths: readonly string[],
  { dir, cwd, profile }: ArtifactOrder,
): Promise<string[]> {
  const found = (await Promise.all(paths.map(findScripts))).flat()
  const places = new Map<string, FoundScript>()
  for (const script of found) {
    const place = artifactPlace(script, cwd)
    const other = places.get(place)
    if (other === undefined) places.set(place, script)
    else refuseShared(script, other)
  }
  const known = await hostExternals()
  const folders: string[] = []
  for (const [place, { file, source }] of places) {
    const allowed = profile ?? (await nearProfile(file))
    const { faults } = await checkScript(source, file, { knownExternals: known, profile: allowed })
    const parts = { name: basename(file), script: await parseScript(source, allowed), faults, hostInputNames }
    const folder = join(dir, place)
    await writeArtifacts(folder, scriptArtifacts(parts), scriptArtifactNames)
    folders.push(folder)
  }
  return folders
}

/** One script may be named twice; of two tools of one name the bundle's check tells, and the first has the folder. */
function refuseShared({ owner }: FoundScript, { owner: other }: FoundScript): void {
  if (owner === undefined || other === undefined || owner.dir === other.dir) return
  const places = `${other.dir} and ${owner.dir}`
  throw new AppError('CONFIG_003', `--artifacts: two bundles are named ${owner.bundle}, ${places}: write each its own`)
}
