import { stat } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { bundleOfScript } from './bundle-of-script.ts'
import { readBundleYaml } from './bundle-yaml.ts'
import { bundleFolders } from './load-bundle.ts'
import { readSource } from './read-source.ts'
import { scriptsUnder } from './scripts-under.ts'

/** A tool script on this machine; `owner` is the tool it is the script of, undefined for a lone one. */
export type FoundScript = { file: string; source: string; owner: ScriptOwner | undefined }
export type ScriptOwner = { dir: string; bundle: string; tool: string }

type Place = Omit<FoundScript, 'source'>

/**
 * The tool scripts that `remora check` reads under `path`: a script, or those of a folder's bundles and those that no
 * bundle names. What cannot be read is left out, since the check names it.
 */
export async function findScripts(path: string): Promise<FoundScript[]> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return []
  if (!stats.isDirectory())
    return path.endsWith('.pym') ? readScripts([{ file: path, owner: await ownerOf(path) }]) : []
  const isBundle = 'source' in (await readSource(join(path, 'bundle.yaml')))
  const folders = isBundle ? [path] : await bundleFolders(path)
  const owned = (await Promise.all(folders.map(scriptsOfBundle))).flat()
  const named = new Set(owned.map(({ file }) => normalize(file)))
  const others = (await scriptsUnder(path)).filter((file) => !named.has(normalize(file)))
  return readScripts([...owned, ...others.map((file) => ({ file, owner: undefined }))])
}

async function scriptsOfBundle(dir: string): Promise<Place[]> {
  const path = join(dir, 'bundle.yaml')
  const read = await readSource(path)
  const { file } = readBundleYaml(path, 'source' in read ? read.source : '')
  const tools = file?.tools.flatMap((tool) => ('script' in tool ? [tool] : [])) ?? []
  return tools.map(({ name, script }) => ({
    file: join(dir, script),
    owner: { dir, bundle: file?.name ?? '', tool: name },
  }))
}

async function ownerOf(script: string): Promise<ScriptOwner | undefined> {
  const { dir, yaml, tool } = (await bundleOfScript(script)) ?? {}
  if (dir === undefined || tool === undefined || yaml?.file === undefined) return undefined
  return { dir, bundle: yaml.file.name, tool }
}

async function readScripts(places: readonly Place[]): Promise<FoundScript[]> {
  const read = await Promise.all(places.map(async (place) => ({ place, read: await readSource(place.file) })))
  return read.flatMap(({ place, read: text }) => ('source' in text ? [{ ...place, source: text.source }] : []))
}
