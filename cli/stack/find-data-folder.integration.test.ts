import { chmod, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimDataVersion, findDataFolder } from './data-folder.ts'

let top = ''
let inner = ''
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'remora-data-')))
  inner = join(top, 'src', 'deep')
  await mkdir(inner, { recursive: true })
})
afterEach(() => rm(top, { recursive: true }))

async function dataFolder(dir: string): Promise<string> {
  const path = join(dir, '.remora')
  await mkdir(path, { mode: 0o700 })
  await claimDataVersion(path)
  return path
}

describe('the data folder', () => {
  it('is the one of the nearest folder above that has one, so that a subfolder sees the same runs', async () => {
    expect(findDataFolder(inner)).toBe(join(inner, '.remora'))
    const outer = await dataFolder(top)
    expect(findDataFolder(inner)).toBe(outer)
    const nearer = await dataFolder(join(top, 'src'))
    expect(findDataFolder(inner)).toBe(nearer)
  })

  it('is none that came with the sources: a link, one without data, one that others may write', async () => {
    const elsewhere = await dataFolder(await mkdtemp(join(top, 'elsewhere')))
    await symlink(elsewhere, join(top, 'src', '.remora'))
    await mkdir(join(top, '.remora'))
    expect(findDataFolder(inner)).toBe(join(inner, '.remora'))
    await claimDataVersion(join(top, '.remora'))
    expect(findDataFolder(inner)).toBe(join(top, '.remora'))
    await chmod(join(top, '.remora'), 0o777)
    expect(findDataFolder(inner)).toBe(join(inner, '.remora'))
  })
})
