/** Work that runs beside the reading of an archive, limited in number and in the bytes it holds. */
export type Uploads = {
  /** Starts `work` when there is room for it. Throws what an earlier one failed with. */
  add(bytes: number, work: () => Promise<void>): Promise<void>
  /** Waits for all that was started, and throws the first failure. */
  settle(): Promise<void>
}

/** A single piece of work over `maxBytes` runs alone. */
export function openUploads({ maxCount, maxBytes }: { maxCount: number; maxBytes: number }): Uploads {
  const underway = new Set<Promise<void>>()
  const failures: unknown[] = []
  let held = 0
  const hasRoomFor = (bytes: number) => underway.size === 0 || (underway.size < maxCount && held + bytes <= maxBytes)
  const check = () => {
    if (failures.length > 0) throw failures[0]
  }
  const run = async (bytes: number, work: () => Promise<void>) => {
    held += bytes
    await work().catch((error: unknown) => failures.push(error))
    held -= bytes
  }
  return {
    async add(bytes, work) {
      while (!hasRoomFor(bytes)) await Promise.race(underway)
      check()
      const started = run(bytes, work).then(() => void underway.delete(started))
      underway.add(started)
    },
    async settle() {
      await Promise.all(underway)
      check()
    },
  }
}
