import type { ScriptProfile } from '#domain/script-profile.ts'
import { checkScript, type ScriptCheckOptions } from '#tool-scripts/check-script.ts'
import type { ScriptFault } from '#tool-scripts/script-declarations.ts'
import { bundleOfScript } from './bundle-of-script.ts'
import { nearProfile } from './near-profile.ts'
import { readSource } from './read-source.ts'

/** A tool script as it was read and checked; `owner` is the tool it is the script of, undefined for a lone one. */
export type CheckedScript = {
  file: string
  source: string
  profile: ScriptProfile
  owner: ScriptOwner | undefined
  faults: ScriptFault[]
}
export type ScriptOwner = { dir: string; bundle: string; tool: string }

/** Checks a script that was named by its path. Never throws: `fault` says in one line why it cannot be read. */
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

async function ownerOf(script: string): Promise<ScriptOwner | undefined> {
  const { dir, yaml, tool } = (await bundleOfScript(script)) ?? {}
  if (dir === undefined || tool === undefined || yaml?.file === undefined) return undefined
  return { dir, bundle: yaml.file.name, tool }
}
