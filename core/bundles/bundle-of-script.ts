import { dirname, join, relative, resolve, sep } from 'node:path'
import { readBundleYaml, type BundleYaml } from './bundle-yaml.ts'
import { readSource } from './read-source.ts'

/** The `bundle.yaml` a script belongs to, and the name of the tool it is there; undefined for a script of no tool. */
export type BundleOfScript = { dir: string; yaml: BundleYaml; tool: string | undefined }

/** The bundle whose folder `script` lies in, or in a folder of which; undefined for a lone script. */
export async function bundleOfScript(script: string): Promise<BundleOfScript | undefined> {
  const near = await nearBundleFile(script)
  if (near === undefined) return undefined
  const { dir, source } = near
  const yaml = readBundleYaml(join(dir, 'bundle.yaml'), source)
  return { dir, yaml, tool: toolOf(yaml, relative(dir, resolve(script))) }
}

/** The text of the `bundle.yaml` beside a script, or of the one in the folder above. */
export async function nearBundleFile(script: string): Promise<{ dir: string; source: string } | undefined> {
  const folder = dirname(resolve(script))
  for (const dir of [folder, dirname(folder)]) {
    const read = await readSource(join(dir, 'bundle.yaml'))
    if ('source' in read) return { dir, source: read.source }
  }
  return undefined
}

function toolOf({ file }: BundleYaml, inside: string): string | undefined {
  const path = inside.split(sep).join('/')
  const tool = file?.tools.find((one) => 'script' in one && one.script.replace(/^\.\//, '') === path)
  return tool !== undefined && 'script' in tool ? tool.name : undefined
}
