import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundleNames } from './bundle-files.ts'

describe('bundleNames', () => {
  it('names the folders that hold a bundle', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'remora-agents-'))
    for (const name of ['lint', 'docstring', 'notes']) await mkdir(join(dir, name))
    await writeFile(join(dir, 'README.md'), 'bundles')
    for (const name of ['lint', 'docstring']) await writeFile(join(dir, name, 'bundle.yaml'), `name: ${name}\n`)
    expect(await bundleNames(dir)).toEqual(['docstring', 'lint'])
    await rm(dir, { recursive: true })
  })

  it('says so when the folder is missing', async () => {
    await expect(bundleNames(join(tmpdir(), 'remora-no-such-folder'))).rejects.toMatchObject({ code: 'CONFIG_001' })
  })
})
