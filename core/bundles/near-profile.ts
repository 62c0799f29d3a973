import { z } from 'zod'
import { ScriptProfile } from '#domain/script-profile.ts'
import { readYaml } from '#platform/yaml-source.ts'
import { nearBundleFile } from './bundle-of-script.ts'

const Profiled = z.object({ profile: ScriptProfile.default('default') })

/** The profile of a script on its own: what the `bundle.yaml` near it says, also one that is broken elsewhere. */
export async function nearProfile(script: string): Promise<ScriptProfile> {
  const near = await nearBundleFile(script)
  if (near === undefined) return 'default'
  return Profiled.safeParse(readYaml(near.source).value).data?.profile ?? 'default'
}
