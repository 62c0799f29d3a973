import { unpackTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { filesOfFolder, isArchive, isSent, packFiles } from './pack-files.ts'

test('packs files with any names as a tar.gz that can be read', async () => {
  const long = `${'a-long-folder-name/'.repeat(20)}größe.py`
  const files = [
    { path: 'src/a.py', file: new File(['x = 1\n'], 'a.py') },
    { path: 'empty', file: new File([], 'empty') },
    { path: long, file: new File(['ä'.repeat(1000)], 'größe.py') },
  ]
  const packed = await packFiles(files)
  const entries = await unpackTar(packed.stream().pipeThrough(new DecompressionStream('gzip')))
  const texts = entries.map(({ header, data }) => [header.name, new TextDecoder().decode(data)])
  expect(texts).toEqual([
    ['src/a.py', 'x = 1\n'],
    ['empty', ''],
    [long, 'ä'.repeat(1000)],
  ])
})

test('a file that cannot be read fails the packing', async () => {
  const broken = new File(['x'], 'x')
  Object.defineProperty(broken, 'size', { value: 5 })
  await expect(packFiles([{ path: 'x', file: broken }])).rejects.toThrow(/size|bytes/i)
})

test('leaves out the history of git and what was installed, at any depth', () => {
  expect(isSent('src/git.ts')).toBe(true)
  expect(isSent('.github/workflows/ci.yml')).toBe(true)
  expect(isSent('.git/config')).toBe(false)
  expect(isSent('web/node_modules/x/index.js')).toBe(false)
})

test('a folder that was picked is listed without its own name', () => {
  const file = new File(['x'], 'a.py')
  Object.defineProperty(file, 'webkitRelativePath', { value: 'project/src/a.py' })
  expect(filesOfFolder([file]).map(({ path }) => path)).toEqual(['src/a.py'])
})

test('knows archives by their names', () => {
  expect(['x.tar.gz', 'x.TGZ', 'x.zip', 'x.tar'].every((name) => isArchive({ name }))).toBe(true)
  expect(isArchive({ name: 'x.gz' })).toBe(false)
})
