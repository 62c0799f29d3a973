import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { harnessAgent, unknownAgents } from '#bundles/bundle-files.ts'
import type { LoadedBundle } from '#bundles/load-bundle.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getBundle, putBundle } from '#store/objects/stored-records.ts'
import type { AgentBundle } from '#domain/agent-bundle.ts'

export type PinnedBundle = { hash: string; bundle: AgentBundle }

/** Stores the named bundles for a plan to pin by hash, or without names all that runs may use. INTAKE_006 for an unknown name. */
export function bundlePinner(loaded: ReadonlyMap<string, LoadedBundle>, objects: ObjectStore) {
  return async (projectId: ProjectId, names: readonly string[]): Promise<PinnedBundle[]> => {
    const fault = unknownAgents(names, [...loaded.keys()])
    if (fault !== undefined) throw new AppError('INTAKE_006', fault)
    const wanted = names.length === 0 ? [...loaded.keys()].filter((name) => name !== harnessAgent) : names
    const bundles = [...new Set(wanted)].flatMap((name) => loaded.get(name)?.bundle ?? [])
    return Promise.all(bundles.map(async (bundle) => ({ hash: await putBundle(objects, projectId, bundle), bundle })))
  }
}

/** Reads the bundles that a run pinned before, whatever bundles this process has. */
export function pinnedBundleReader(objects: ObjectStore) {
  return (projectId: ProjectId, hashes: readonly string[]): Promise<PinnedBundle[]> =>
    Promise.all(hashes.map(async (hash) => ({ hash, bundle: await getBundle(objects, projectId, hash) })))
}
