import { afterAll, vi } from 'vitest'

/**
 * A setup file: when a test file ends, every server, connection and child it opened must be closed. Idle keep-alive
 * connections do not count, since Node lets a process end while they are open. Registered first, so it runs last.
 */
const watchedKinds = new Set(['TCPServerWrap', 'TCPSocketWrap', 'ProcessWrap'])

function openHandles(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => watchedKinds.has(kind))
}

const openBefore = openHandles().length

function refuseOpenHandles(): void {
  const open = openHandles()
  if (open.length > openBefore) throw new Error(`still open when the file ended: ${open.join(', ')}`)
}

afterAll(() => vi.waitFor(refuseOpenHandles, { timeout: 2_000 }))
