import { closeSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { repeatEvery } from '#platform/clock.ts'
import { openSnapshotArchives } from './snapshot-archives.ts'

it('an archive has no name whenever its process may be killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'remora-archives-'))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = [{ path: 'a.py', hash: 'aa', executable: false }]
  const read = async () => Buffer.from('x = 1')
  const archives = openSnapshotArchives(async () => ({ files, links: [], read }))
  onTestFinished(() => archives.close())

  const names: string[] = []
  onTestFinished(repeatEvery(0, async () => void names.push(...readdirSync(folder))))
  for (let at = 0; at < 20; at += 1) {
    const fd = await archives.open('default', `snapshot-${at}`)
    expect(readFileSync(fd, 'utf8')).toContain('x = 1')
    closeSync(fd)
  }
  expect(names).toEqual([])
})
