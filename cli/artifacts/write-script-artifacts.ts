import { basename, join, resolve } from 'node:path'
import type { CheckedScript } from '#bundles/check-script-file.ts'
import { hostInputNames } from '#bundles/host-inputs.ts'
import { AppError } from '#domain/error.ts'
import { parseScript } from '#tool-scripts/parse-script.ts'
import { scriptArtifactNames, scriptArtifacts } from '#tool-scripts/script-artifacts.ts'
import { writeArtifacts } from './artifact-folder.ts'
import { artifactPlace } from './artifact-place.ts'

export type ArtifactOrder = { dir: string; cwd: string }

/**
 * Writes what the compiler makes of each tool script into `dir`, one folder a script, however often it is named; answers
 * those folders. CONFIG_003, before anything is written, when scripts of two bundles of one name would share a folder.
 */
export async function writeScriptArtifacts(
  scripts: readonly CheckedScript[],
  { dir, cwd }: ArtifactOrder,
): Promise<string[]> {
  const places = new Map<string, CheckedScript>()
  for (const script of scripts) {
    const place = artifactPlace(script, cwd)
    const other = places.get(place)
    if (other === undefined) places.set(place, script)
    else refuseShared(script, other)
  }
  const folders: string[] = []
  for (const [place, { file, source, profile, faults }] of places) {
    const parts = { name: basename(file), script: await parseScript(source, profile), faults, hostInputNames }
    const folder = join(dir, place)
    await writeArtifacts(folder, scriptArtifacts(parts), scriptArtifactNames)
    folders.push(folder)
  }
  return folders
}

/** One script may be named twice; of two tools of one name the bundle's check tells, and the first has the folder. */
function refuseShared({ owner }: CheckedScript, { owner: other }: CheckedScript): void {
  if (owner === undefined || other === undefined || resolve(owner.dir) === resolve(other.dir)) return
  const places = `${other.dir} and ${owner.dir}`
  throw new AppError('CONFIG_003', `--artifacts: two bundles are named ${owner.bundle}, ${places}: write each its own`)
}
