import type { HostedRepository } from './world.ts'

/** The commit that a branch, a tag, `heads/NAME`, `tags/NAME` or the start of an id names, as GitHub reads it. */
export async function commitNamed({ store }: HostedRepository, name: string): Promise<string | undefined> {
  if (name === '' || !isPlainName(name)) return undefined
  const refs = [`refs/heads/${name}`, `refs/tags/${name}`, ...(/^(?:heads|tags)\//.test(name) ? [`refs/${name}`] : [])]
  for (const ref of refs) {
    const sha = await store.tip(ref)
    if (sha !== undefined) return sha
  }
  return /^[0-9a-f]{7,40}$/.test(name) ? store.tip(name) : undefined
}

/** False for what git would take for an option or an expression. */
export function isPlainName(name: string): boolean {
  return !/^-|[\s~^:?*[\\]|\.\.|@\{/.test(name)
}
