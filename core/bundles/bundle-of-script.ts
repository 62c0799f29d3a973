import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { readBundleYaml, type BundleYaml } from './bundle-yaml.ts'

/** The `bundle.yaml` a script belongs to, and the name of the tool it is there; undefined for a script of no tool. */
export type BundleOfScript = { dir: string; yaml: BundleYaml; tool: string | undefined }

/** The bundle whose folder `script` lies in, or in a folder of which; undefined for a lone script. */
export async function bundleOfScript(script: string): Promise<BundleOfScript | undefined> {
  const file = resolve(script)
  for (const dir of [dirname(file), dirname(dirname(file))]) {
    const path = join(dir, 'bundle.yaml')
    const source = await readFile(path, 'utf8').catch(() => undefined)
    if (source === undefined) continue
    const yaml = readBundleYaml(path, source)
    return { dir, yaml, tool: toolOf(yaml, relative(dir, file)) }
  }
  return undefined
}

function toolOf({ file }: BundleYaml, inside: string): string | undefined {
  const path = inside.split(sep).join('/')
  const tool = file?.tools.find((one) => 'script' in one && one.script.replace(/^\.\//, '') === path)
  return tool !== undefined && 'script' in tool ? tool.name : undefined
}
