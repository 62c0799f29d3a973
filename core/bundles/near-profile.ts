import { dirname, join } from 'node:path'
import { z } from 'zod'
import { ScriptProfile } from '#domain/script-profile.ts'
import { readYaml } from '#platform/yaml-source.ts'
import { readSource } from './read-source.ts'

const Profiled = z.object({ profile: ScriptProfile.default('default') })

/** The profile of a script on its own: of the `bundle.yaml` beside it, or of the one in the folder above. */
export async function nearProfile(script: string): Promise<ScriptProfile> {
  const folder = dirname(script)
  for (const dir of [folder, join(folder, '..')]) {
    const read = await readSource(join(dir, 'bundle.yaml'))
    if ('source' in read) return Profiled.safeParse(readYaml(read.source).value).data?.profile ?? 'default'
  }
  return 'default'
}
