import { sha256 } from '#domain/ids.ts'
import { type BaseLayer, baseLayerOf } from './base-layer.ts'

/** Returns the layer of a snapshot that has these files alone. */
export function baseOver(files: Readonly<Record<string, string | Uint8Array>>): BaseLayer {
  const entries = Object.entries(files).map(([path, content]) => ({ path, hash: sha256(content) }))
  const blobs = new Map(Object.values(files).map((content) => [sha256(content), Buffer.from(content)]))
  const find = (path: string) => entries.find((entry) => entry.path === path)
  const get = async (_project: string, hash: string) => blobs.get(hash) ?? Promise.reject(new Error(`no blob ${hash}`))
  return baseLayerOf({ files: entries, links: [], skipped: [], find }, { get }, 'p')
}
