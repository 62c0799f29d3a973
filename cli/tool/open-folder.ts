import { lstatSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { type BaseLayer, baseLayerOf, foldersOf } from '#stages/operate/workspace/base-layer.ts'
import type { ArchiveFiles } from '#sandbox/snapshot-archives.ts'
import { WorkspaceFault } from '#stages/operate/workspace/open-workspace.ts'
import { type FolderListing, listFolder, type PackOptions } from '../pack-folder.ts'

/** `contents`: all that is in it. */
export type FolderLayer = BaseLayer & { contents(): ArchiveFiles }

/** Returns the real path of a folder; CONFIG_003 when `path` is not one. */
export async function requireFolder(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory() !== true)
    throw new AppError('CONFIG_003', `--workspace needs a folder, but ${path} is not one`)
  return realpath(path)
}

/**
 * Opens the folder `top` (a real path) as the base layer of a workspace, with the files that a run would upload. Each file is
 * read once, on first use; that content stays its base. The path stands for the content hash. TOOL_007 for a link that
 * a run would leave out, such as one that leads out of the folder.
 */
export async function openFolder(top: string, options: PackOptions): Promise<FolderLayer> {
  return folderLayer(top, await listFolder(top, options))
}

/** Returns a folder that is not walked, for scripts that cannot ask for a file. */
export function unseenFolder(top: string): FolderLayer {
  return folderLayer(top, { files: [], skipped: [] })
}

function folderLayer(top: string, listing: Pick<FolderListing, 'files' | 'skipped'>): FolderLayer {
  const files = listing.files.filter((file) => file.kind === 'file')
  const links = listing.files.filter((file) => file.kind === 'link')
  const paths = new Map(files.map(({ path, executable }) => [path, { hash: path, executable }]))
  const skipped = new Set(listing.skipped.map(({ path }) => path))
  const known = new Map<string, Promise<Uint8Array>>()
  const get = (_project: string, path: string): Promise<Uint8Array> => {
    const bytes = known.get(path) ?? readInside(top, path)
    known.set(path, bytes)
    return bytes
  }
  const find = (path: string) => paths.get(path)
  const layer = baseLayerOf({ files, links, skipped: listing.skipped, find }, { get }, top)
  return {
    ...layer,
    contents: () => ({
      files: files.map((file) => ({ ...file, hash: file.path })),
      links,
      read: (path) => get('', path),
    }),
    find(path) {
      for (const at of [path, ...foldersOf(path)]) {
        if (skipped.has(at) && isLink(join(top, at))) throw linkRefused(at)
      }
      return layer.find(path)
    },
    kindAt: (path) => (skipped.has(path) && isLink(join(top, path)) ? 'link' : layer.kindAt(path)),
  }
}

async function readInside(top: string, path: string): Promise<Uint8Array> {
  const full = join(top, path)
  try {
    if ((await realpath(full)) !== full) throw linkRefused(path)
    return await readFile(full)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new WorkspaceFault('not-found', `${path} cannot be read any more`, { cause })
  }
}

function isLink(full: string): boolean {
  return lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function linkRefused(path: string): AppError {
  return new AppError('TOOL_007', `${path} is a link, and links are not followed`)
}
