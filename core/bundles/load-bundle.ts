import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { noAgentsFolder } from './bundle-names.ts'
import { bundleInvalid, type BundleFault, type BundleWarning } from './bundle-fault.ts'
import { readBundle, type BundleDeps, type ReadBundle } from './read-bundle.ts'

export type LoadedBundle = { bundle: AgentBundle; warnings: BundleWarning[] }

/**
 * The bundle of one folder, which has its name. AGENT_001 with file, line and message of every fault. `after` is not
 * looked up.
 */
export async function loadBundle(dir: string, deps: BundleDeps = {}): Promise<LoadedBundle> {
  return loaded(await readBundle(dir, deps))
}

/**
 * Every bundle under `dir`, by name, sorted by folder. AGENT_001 when one is invalid or waits for one that is not
 * there.
 */
export async function loadBundles(dir: string, deps: BundleDeps = {}): Promise<Map<string, LoadedBundle>> {
  const folders = await bundleFolders(dir)
  const read = await Promise.all(folders.map((folder) => readBundle(folder, deps)))
  const faults = [...read.flatMap((bundle) => bundle.faults), ...findFolderFaults(read)]
  if (faults.length > 0) throw bundleInvalid(faults)
  return new Map(read.map(loaded).map((bundle) => [bundle.bundle.file.name, bundle]))
}

/** The folders under `dir` that hold a `bundle.yaml`, sorted. CONFIG_001 when `dir` cannot be read. */
export async function bundleFolders(dir: string): Promise<string[]> {
  try {
    const files = await readdir(dir, { withFileTypes: true })
    const folders = files.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name))
    const holding = await Promise.all(
      folders.map(async (folder) => ((await namesIn(folder)).includes('bundle.yaml') ? [folder] : [])),
    )
    return holding.flat().toSorted()
  } catch (error) {
    throw noAgentsFolder(dir, error)
  }
}

/** A folder that cannot be read is taken for a bundle, which is then told to be unreadable. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => ['bundle.yaml'])
}

/** What only all bundles of a folder together show: an unknown `after`, bundles that wait in a circle. */
export function findFolderFaults(bundles: readonly ReadBundle[]): BundleFault[] {
  const known = bundles.filter((bundle) => bundle.file !== undefined)
  const afterOf = new Map(known.map(({ file }) => [file?.name ?? '', file?.after ?? []]))
  return known.flatMap((bundle) => {
    const fault = (at: (string | number)[], message: string): BundleFault => ({
      file: join(bundle.dir, 'bundle.yaml'),
      ...bundle.placeOf(at),
      code: 'AGENT_001',
      message,
    })
    const name = bundle.file?.name ?? ''
    const unknown = (bundle.file?.after ?? []).flatMap((other, index) =>
      afterOf.has(other) ? [] : [fault(['after', index], `after names ${other}, which is no bundle of this folder`)],
    )
    const namesItself = afterOf.get(name)?.includes(name) === true // told with the bundle's own faults
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

function loaded({ bundle, faults, warnings }: ReadBundle): LoadedBundle {
  if (bundle === undefined) throw bundleInvalid(faults)
  return { bundle, warnings }
}
