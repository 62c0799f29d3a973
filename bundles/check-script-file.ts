import { dirname, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { ScriptProfile } from '#domain/agent-bundle.ts'
import { checkScript, type ScriptCheckOptions } from '#tool-scripts/check-script.ts'
import type { ScriptFault } from '#tool-scripts/script-declarations.ts'
import { readYaml } from '#platform/yaml-source.ts'
import { readSource } from './bundle-files.ts'
import { readBundleYaml } from './bundle-yaml.ts'

/** A tool script that was read and checked. `owner` is the tool that it belongs to, undefined for a lone script. */
export type CheckedScript = {
  file: string
  source: string
  profile: ScriptProfile
  owner: ScriptOwner | undefined
  faults: ScriptFault[]
}

export type ScriptOwner = { dir: string; bundle: string; tool: string }

/** Checks the script in a file. Never throws: `fault` says, in one line, why it cannot be read. */
export async function checkScriptFile(
  file: string,
  options: ScriptCheckOptions,
): Promise<CheckedScript | { fault: string }> {
  const read = await readSource(file)
  if ('fault' in read) return read
  const { source } = read
  const profile = options.profile ?? (await nearProfile(file))
  const { faults } = await checkScript(source, file, { ...options, profile })
  return { file, source, profile, owner: await ownerOf(file), faults }
}

const Profiled = z.object({ profile: ScriptProfile.default('default') })

async function nearProfile(script: string): Promise<ScriptProfile> {
  const near = await nearBundleFile(script)
  if (near === undefined) return 'default'
  return Profiled.safeParse(readYaml(near.source).value).data?.profile ?? 'default'
}

async function ownerOf(script: string): Promise<ScriptOwner | undefined> {
  const { dir, yaml, tool } = (await bundleOfScript(script)) ?? {}
  if (dir === undefined || tool === undefined || yaml?.file === undefined) return undefined
  return { dir, bundle: yaml.file.name, tool }
}

export async function bundleOfScript(script: string) {
  const near = await nearBundleFile(script)
  if (near === undefined) return undefined
  const { dir, source } = near
  const yaml = readBundleYaml(join(dir, 'bundle.yaml'), source)
  const path = relative(dir, resolve(script)).split(sep).join('/')
  const tool = yaml.file?.tools.find((entry) => 'script' in entry && entry.script.replace(/^\.\//, '') === path)
  return { dir, yaml, tool: tool !== undefined && 'script' in tool ? tool.name : undefined }
}

async function nearBundleFile(script: string): Promise<{ dir: string; source: string } | undefined> {
  const folder = dirname(resolve(script))
  for (const dir of [folder, dirname(folder)]) {
    const read = await readSource(join(dir, 'bundle.yaml'))
    if ('source' in read) return { dir, source: read.source }
  }
  return undefined
}
