import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleOfScript } from './bundle-of-script.ts'
import { readBundleYaml } from './bundle-yaml.ts'
import { bundleFolders } from './load-bundle.ts'

/** A tool script on this machine; `owner` is the tool it is the script of, undefined for a lone one. */
export type FoundScript = { file: string; source: string; owner: ScriptOwner | undefined }
export type ScriptOwner = { dir: string; bundle: string; tool: string }

/**
 * The tool scripts that `remora check` reads under `path`: a script, a bundle, or a folder of bundles. What cannot be
 * read is left out, since the check names it.
 */
export async function findScripts(path: string): Promise<FoundScript[]> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return []
  if (!stats.isDirectory())
    return path.endsWith('.pym') ? readScripts([{ file: path, owner: await ownerOf(path) }]) : []
  const isBundle = (await readText(join(path, 'bundle.yaml'))) !== undefined
  const folders = isBundle ? [path] : await bundleFolders(path)
  return (await Promise.all(folders.map(scriptsOfBundle))).flat()
}

async function scriptsOfBundle(dir: string): Promise<FoundScript[]> {
  const path = join(dir, 'bundle.yaml')
  const { file } = readBundleYaml(path, (await readText(path)) ?? '')
  if (file === undefined) return []
  const tools = file.tools.flatMap((tool) => ('script' in tool ? [tool] : []))
  return readScripts(
    tools.map(({ name, script }) => ({ file: join(dir, script), owner: { dir, bundle: file.name, tool: name } })),
  )
}

async function ownerOf(script: string): Promise<ScriptOwner | undefined> {
  const { dir, yaml, tool } = (await bundleOfScript(script)) ?? {}
  if (dir === undefined || tool === undefined || yaml?.file === undefined) return undefined
  return { dir, bundle: yaml.file.name, tool }
}

async function readScripts(places: readonly Omit<FoundScript, 'source'>[]): Promise<FoundScript[]> {
  const read = await Promise.all(places.map(async (place) => ({ ...place, source: await readText(place.file) })))
  return read.flatMap(({ source, ...place }) => (source === undefined ? [] : [{ ...place, source }]))
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}
