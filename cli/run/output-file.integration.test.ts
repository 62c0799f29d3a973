import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requireWritable, writeWhole } from './output-file.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let dir = ''
useFreshFolder((path) => (dir = path))

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

async function* breaksOff() {
  yield Buffer.from('half')
  throw new Error('connection lost')
}

describe('the place a patch goes to', () => {
  it('is checked without leaving anything there', async () => {
    await requireWritable(join(dir, 'out.patch'))
    expect(await readdir(dir)).toEqual([])
  })

  it('is refused in words of the folder that was named', async () => {
    await writeFile(join(dir, 'file'), '')
    const places = {
      [join(dir, 'missing', 'out.patch')]: `folder ${join(dir, 'missing')} does not exist`,
      [join(dir, 'file', 'out.patch')]: `${join(dir, 'file')} is not a folder`,
      '/proc/out.patch': 'folder /proc is not writable',
    }
    for (const [path, fault] of Object.entries(places)) {
      await expect(requireWritable(path)).rejects.toThrow(new RegExp(`^${path} cannot be written: ${fault}$`))
    }
  })

  it('holds the whole content or what it held before', async () => {
    const path = join(dir, 'out.patch')
    await writeWhole(path, chunks('one\n', 'two\n'))
    await expect(writeWhole(path, breaksOff())).rejects.toThrow('connection lost')
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
    expect(await readdir(dir)).toEqual(['out.patch'])
  })
})
