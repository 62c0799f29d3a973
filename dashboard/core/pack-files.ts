import { createTarPacker } from 'modern-tar'

/** Is a file of a folder that somebody gave to the page. `path` is from the folder, with slashes. */
export type PickedFile = { path: string; file: File }

const leftOut: ReadonlySet<string> = new Set(['.git', 'node_modules'])
const archiveName = /\.(?:tar|tar\.gz|tgz|zip)$/i

export function isArchive({ name }: { name: string }): boolean {
  return archiveName.test(name)
}

/** Is false for what is not sent: the history of git, and what a package manager has installed. */
export function isSent(path: string): boolean {
  return !path.split('/').some((part) => leftOut.has(part))
}

/** Lists the files of a folder that was picked, without its own name. */
export function filesOfFolder(files: Iterable<File>): PickedFile[] {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/'), file })).filter(
    ({ path }) => isSent(path),
  )
}

/** Lists the files of folders that were dropped; those of a single one without its name. A file that is dropped alone is itself. */
export async function filesOfDrop(items: DataTransferItemList): Promise<PickedFile[]> {
  // The list is emptied once the event is over.
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const [only, ...others] = entries
  if (only !== undefined && isFolder(only) && others.length === 0) return filesIn(only, '')
  return (await Promise.all(entries.map(async (entry) => filesAt(entry, '')))).flat()
}

// In Chromium what was dropped is of other classes than those of the standard.
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile

async function filesAt(entry: FileSystemEntry, parent: string): Promise<PickedFile[]> {
  const path = `${parent}${entry.name}`
  if (!isSent(path)) return []
  if (isFolder(entry)) return filesIn(entry, `${path}/`)
  if (!isFile(entry)) return []
  const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
  return [{ path, file }]
}

async function filesIn(folder: FileSystemDirectoryEntry, path: string): Promise<PickedFile[]> {
  const reader = folder.createReader()
  const files: PickedFile[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return files // a browser gives them a hundred at a time
    for (const entry of part) files.push(...(await filesAt(entry, path)))
  }
}

/** Packs files as a tar.gz. The browser keeps it, on its disk where it is large: a page can send nothing that it has not whole. */
export async function packFiles(files: readonly PickedFile[]): Promise<Blob> {
  const { readable, controller } = createTarPacker()
  async function write(): Promise<void> {
    try {
      for (const { path, file } of files) {
        const header = { name: path, size: file.size, mtime: new Date(file.lastModified) }
        await file.stream().pipeTo(controller.add(header))
      }
      controller.finalize()
    } catch (error) {
      controller.error(error)
    }
  }
  const packed = new Response(readable.pipeThrough(new CompressionStream('gzip'))).blob()
  await write()
  return packed
}
