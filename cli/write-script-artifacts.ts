import { basename, join, relative, resolve, sep } from 'node:path'
import { mkdir, rm, stat } from 'node:fs/promises'
import type { CheckedScript } from '#bundles/check-script-file.ts'
import { providedInputNames } from '#bundles/tool-definition.ts'
import { AppError } from '#domain/error.ts'
import { parseScript } from '#tool-scripts/parse-script.ts'
import { scriptArtifactNames, scriptArtifacts } from '#tool-scripts/script-artifacts.ts'
import { sha256 } from '#domain/ids.ts'
import { requireWritable, writeWhole } from './run/output-file.ts'

export type ArtifactOrder = { dir: string; cwd: string }

/**
 * Writes the compiler's artifacts of each tool script into `dir`, one folder for each script even if it is named twice, and
 * returns those folders. CONFIG_003, before anything is written, when scripts of two bundles of one name would share a folder.
 */
export async function writeScriptArtifacts(
  scripts: readonly CheckedScript[],
  { dir, cwd }: ArtifactOrder,
): Promise<string[]> {
  const byFolder = new Map<string, CheckedScript>()
  for (const script of scripts) {
    const name = artifactPlace(script, cwd)
    const other = byFolder.get(name)
    if (other === undefined) byFolder.set(name, script)
    else refuseShared(script, other)
  }
  const folders: string[] = []
  for (const [name, { file, source, profile, faults }] of byFolder) {
    const parts = { name: basename(file), script: await parseScript(source, profile), faults, providedInputNames }
    const folder = join(dir, name)
    await writeArtifacts(folder, scriptArtifacts(parts), scriptArtifactNames)
    folders.push(folder)
  }
  return folders
}

/** The same script may be named twice. Two tools of one name are reported by the bundle's check; the first gets the folder. */
function refuseShared({ owner }: CheckedScript, { owner: other }: CheckedScript): void {
  if (owner === undefined || other === undefined || resolve(owner.dir) === resolve(other.dir)) return
  const folders = `${other.dir} and ${owner.dir}`
  throw new AppError('CONFIG_003', `--artifacts: two bundles are named ${owner.bundle}, ${folders}: write each its own`)
}

/** Matches a name that is the same single folder on every file system, whether it distinguishes case or not. */
const plain = /^[a-z0-9_][a-z0-9_-]{0,63}$/
const noBundle = '_'

/** Names the folder of a script by its bundle and tool, else by its path from `cwd`, with a hash where that is no folder name. */
function artifactPlace({ file, owner }: Pick<CheckedScript, 'file' | 'owner'>, cwd: string): string {
  if (owner !== undefined) return `${owner.bundle}/${owner.tool}`
  const path = relative(cwd, resolve(cwd, file)).split(sep).join('/')
  const name = path.replace(/\.pym$/, '')
  if (plain.test(name)) return `${noBundle}/${name}`
  const start = basename(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '_')
    .slice(0, 40)
  return `${noBundle}/${start}.${sha256(path).slice(0, 12)}`
}

/** Makes the folder of all artifacts. CONFIG_003, before any work, when it is a file or cannot be written. */
export async function requireArtifactFolder(dir: string): Promise<void> {
  const stats = await stat(dir).catch(() => undefined)
  if (stats?.isDirectory() === false) throw new AppError('CONFIG_003', `--artifacts: ${dir} is a file, not a folder`)
  await makeFolder(dir)
  await requireWritable(join(dir, 'check.json'))
}

/** Writes one script's artifacts, each file whole, and removes the others of `names`. CONFIG_003 when one fails. */
export async function writeArtifacts(
  folder: string,
  artifacts: ReadonlyMap<string, string>,
  names: readonly string[] = [],
): Promise<void> {
  await makeFolder(folder)
  for (const name of names) if (!artifacts.has(name)) await rm(join(folder, name), { force: true })
  for (const [name, text] of artifacts) await writeWhole(join(folder, name), [text])
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    throw new AppError('CONFIG_003', `--artifacts: the folder ${folder} cannot be made: ${code}`, { cause })
  })
}
