import type { ObjectStore } from './object-store.ts'

const sharedKinds = /^projects\/[^/]+\/(?:blobs|trees|snapshots|bundles)\//

/**
 * `objects` with each put of an object that several runs may share made under `permit`. Those are the ones a collection
 * can find old and unreferenced just when a new run stores them again; every other kind belongs to one run alone.
 */
export function permittedPuts(objects: ObjectStore, permit: (put: () => Promise<void>) => Promise<void>): ObjectStore {
  return {
    ...objects,
    put: (key, body, options) =>
      sharedKinds.test(key) ? permit(() => objects.put(key, body, options)) : objects.put(key, body, options),
  }
}
