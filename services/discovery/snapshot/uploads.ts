/** Contents on their way from an archive to the store, limited in number and in the bytes they hold. */
export type Uploads = {
  /**
   * Waits for room, reads the content, and starts to store it. Throws what reading it fails with, or what storing an
   * earlier one failed with.
   */
  add(content: Content): Promise<void>
  /** Waits for all that was started, and throws the first failure. */
  settle(): Promise<void>
}

/** `bytes` is the length of what `read` answers. */
export type Content = { bytes: number; read(): Promise<Uint8Array>; store(content: Uint8Array): Promise<void> }

/** A single content over `maxBytes` is read and stored alone. */
export function openUploads({ maxCount, maxBytes }: { maxCount: number; maxBytes: number }): Uploads {
  const underway = new Set<Promise<void>>()
  const failures: unknown[] = []
  let held = 0
  const hasRoomFor = (bytes: number) => underway.size === 0 || (underway.size < maxCount && held + bytes <= maxBytes)
  const check = () => {
    if (failures.length > 0) throw failures[0]
  }
  const run = async (bytes: number, storing: Promise<void>) => {
    held += bytes
    await storing.catch((error: unknown) => failures.push(error))
    held -= bytes
  }
  return {
    async add({ bytes, read, store }) {
      while (!hasRoomFor(bytes)) await Promise.race(underway)
      check()
      const started = run(bytes, store(await read())).then(() => void underway.delete(started))
      underway.add(started)
    },
    async settle() {
      await Promise.all(underway)
      check()
    },
  }
}
