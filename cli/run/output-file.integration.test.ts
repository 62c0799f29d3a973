import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requireWritable, openLineFile, writeWhole } from './output-file.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-out-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

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

  it('is refused when it is a folder, in no folder, or under a file', async () => {
    await mkdir(join(dir, 'folder'))
    await writeFile(join(dir, 'file'), '')
    for (const path of ['folder', 'missing/out.patch', 'file/out.patch']) {
      await expect(requireWritable(join(dir, path))).rejects.toMatchObject({ code: 'CONFIG_003' })
    }
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

describe('a file of lines', () => {
  it('has every line once it is closed', async () => {
    const file = await openLineFile(join(dir, 'events.jsonl'))
    file.add('{"seq":1}')
    file.add('{"seq":2}')
    await file.close()
    expect(await readFile(join(dir, 'events.jsonl'), 'utf8')).toBe('{"seq":1}\n{"seq":2}\n')
  })

  it('is refused where none can be', async () => {
    await expect(openLineFile(join(dir, 'missing', 'events.jsonl'))).rejects.toMatchObject({ code: 'CONFIG_003' })
  })
})
