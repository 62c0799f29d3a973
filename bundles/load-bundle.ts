import { basename, join, resolve } from 'node:path'
import { type AgentBundle, awaitedBundles } from '#domain/agent-bundle.ts'
import { agentFolders } from './bundle-files.ts'
import { type BundleFault, bundleInvalid } from './bundle-yaml.ts'
import { type BundleDeps, readBundle, type ReadBundle } from './read-bundle.ts'

export type LoadedBundle = { dir: string; bundle: AgentBundle; warnings: BundleFault[] }

/** Throws AGENT_001 with file, line and message of every fault. Does not check whether `after` names bundles. */
export async function loadBundle(dir: string, deps: BundleDeps = {}): Promise<LoadedBundle> {
  return loaded(await readBundle(dir, deps))
}

/** Loads the shipped bundles and those under `dir`, by name. AGENT_001 when one is invalid or waits for one that does not exist. */
export async function loadBundles(dir: string | undefined, deps: BundleDeps = {}): Promise<Map<string, LoadedBundle>> {
  const folders = [...(await agentFolders(dir)).values()]
  const read = await Promise.all(folders.map((folder) => readBundle(folder, deps)))
  const faults = [...read.flatMap((bundle) => bundle.faults), ...findFolderFaults(read)]
  if (faults.length > 0) throw bundleInvalid(faults)
  return new Map(read.map(loaded).map((bundle) => [bundle.bundle.file.name, bundle]))
}

function loaded({ dir, bundle, faults, warnings }: ReadBundle): LoadedBundle {
  if (bundle === undefined) throw bundleInvalid(faults)
  return { dir, bundle, warnings }
}

/** Finds faults between bundles that are used together; `others` are used with them, and not looked at. */
export function findFolderFaults(
  bundles: readonly ReadBundle[],
  others: readonly Pick<ReadBundle, 'file'>[] = [],
): BundleFault[] {
  const known = bundles.filter((bundle) => bundle.file !== undefined)
  const files = [...others, ...known].flatMap(({ file }) => file ?? [])
  // A bundle whose file has faults is there, under the name of its folder.
  const folders = bundles.map(({ dir }) => [basename(resolve(dir)), []] as const)
  const afterOf = new Map<string, readonly string[]>([
    ...folders,
    ...files.map((file) => [file.name, awaitedBundles(file)] as const),
  ])
  return known.flatMap((bundle) => {
    const fault = (at: (string | number)[], message: string): BundleFault => ({
      file: join(bundle.dir, 'bundle.yaml'),
      ...bundle.placeOf(at),
      code: 'AGENT_001',
      message,
    })
    const name = bundle.file?.name ?? ''
    const unknown = (bundle.file?.after ?? []).flatMap((other, index) =>
      afterOf.has(other) ? [] : [fault(['after', index], `after names ${other}, and there is no such bundle`)],
    )
    const namesItself = afterOf.get(name)?.includes(name) === true // reported with the bundle's own faults
    const circle = !namesItself && waitsFor(name, name, afterOf) ? [fault(['after'], `${name} waits for itself`)] : []
    return [...unknown, ...circle]
  })
}

function waitsFor(name: string, target: string, afterOf: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>()
  const open = [...(afterOf.get(name) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === target) return true
    if (!seen.has(next)) open.push(...(afterOf.get(next) ?? []))
    seen.add(next)
  }
  return false
}
