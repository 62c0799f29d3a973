import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { createTarPacker, type TarHeader } from 'modern-tar'

export type TarItem = { path: string } & ({ content: Uint8Array; executable: boolean } | { target: string })

/**
 * Makes a gzipped tar without times or owners: the same items give the same bytes. At most 8 MiB that nobody has read yet are
 * kept. An error of `items` is thrown where the tar is read; leaving that loop ends `items`.
 */
export async function* gzippedTar(items: AsyncIterable<TarItem>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const gzip = createGzip({ level: 1 })
  const writing = writeItems(items, controller).catch((error: unknown) => controller.error(error))
  // A failure while packing destroys the gzip stream; reading that throws it.
  const zipping = pipeline(readable, gzip, { ...(signal && { signal }) }).catch(() => {})
  try {
    yield* gzip
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    gzip.destroy()
    await Promise.all([writing, zipping])
  }
}

/** Makes the same without compression, and also of items that are there already. What is left out early ends `items`, too. */
export async function* plainTar(items: AsyncIterable<TarItem> | Iterable<TarItem>): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker()
  void writeItems(items, controller).catch((error: unknown) => controller.error(error))
  yield* readable
}

type TarController = ReturnType<typeof createTarPacker>['controller']

const common = { mtime: new Date(0), uid: 0, gid: 0 }

async function writeItems(items: AsyncIterable<TarItem> | Iterable<TarItem>, controller: TarController): Promise<void> {
  for await (const item of items) {
    const content = 'target' in item ? new Uint8Array() : item.content
    const writer = controller.add({ ...common, ...headerOf(item), size: content.length }).getWriter()
    if (content.length > 0) await writer.write(content)
    await writer.close()
  }
  controller.finalize()
}

function headerOf(item: TarItem): Pick<TarHeader, 'name' | 'type' | 'mode' | 'linkname'> {
  if ('target' in item) return { name: item.path, type: 'symlink', linkname: item.target }
  return { name: item.path, type: 'file', mode: item.executable ? 0o755 : 0o644 }
}
