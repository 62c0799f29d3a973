import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Makes a folder before each test of the file that calls this, hands `take` its path, and removes it after the test. */
export function useFreshFolder(take: (path: string) => void): void {
  let path = ''
  beforeEach(async () => {
    path = await realpath(await mkdtemp(join(tmpdir(), 'remora-cli-')))
    take(path)
  })
  afterEach(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
}
