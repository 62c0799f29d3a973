import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { unpackEnvironment } from './unpack-environment.ts'

let top = ''
let dir = ''
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-unpack-'))
  dir = await mkdtemp(join(top, 'into-'))
})
afterEach(() => rm(top, { recursive: true }))

const limits = { maxBytes: 1_000, maxEntries: 20 }
const file = (name: string, body = 'x', more: Partial<TarEntry['header']> = {}): TarEntry => ({
  header: { name, size: body.length, type: 'file', mode: 0o644, ...more },
  body,
})
const folder = (name: string): TarEntry => ({ header: { name: `${name}/`, size: 0, type: 'directory', mode: 0o755 } })
const link = (name: string, linkname: string): TarEntry => ({ header: { name, size: 0, type: 'symlink', linkname } })

async function* streamOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
}
const unpack = async (...entries: TarEntry[]) => unpackAll(entries)
const unpackAll = async (entries: TarEntry[], maxEntries = limits.maxEntries) =>
  unpackEnvironment(streamOf(gzipSync(await packTar(entries))), dir, { ...limits, maxEntries })

it('makes files, folders and links, with times and the bit of programs alone', async () => {
  const mtime = new Date(1_700_000_000_000)
  const unpacked = await unpack(
    folder('environment'),
    file('environment/bin/tool', '#!', { mode: 0o6755, mtime }),
    link('environment/bin/python', '/usr/bin/python3'),
    file('workspace/lib.egg-info/PKG-INFO'),
    folder('workspace/node_modules'),
    file('workspace/node_modules/a/index.js'),
    folder('workspace/node_modules/a/node_modules'),
    folder('workspace/web/node_modules'),
  )
  expect(unpacked).toMatchObject({ modules: ['node_modules', 'web/node_modules'], bytes: 4 })
  const tool = await lstat(join(dir, 'environment/bin/tool'))
  expect([tool.mode & 0o7777, tool.mtimeMs]).toEqual([0o755 & ~process.umask(), mtime.getTime()])
  expect(await readlink(join(dir, 'environment/bin/python'))).toBe('/usr/bin/python3')
  expect(await readFile(join(dir, 'added/lib.egg-info/PKG-INFO'), 'utf8')).toBe('x')
  expect(await readdir(join(dir, 'modules/node_modules'))).toEqual(['.cache', '.vite', '.vite-temp', 'a'])
})

it('lays into a node_modules of the repository what is new in it, and hides nothing', async () => {
  const { modules } = await unpack(
    folder('workspace/node_modules/new'),
    file('workspace/node_modules/new/index.js'),
    link('workspace/web/node_modules', '../node_modules'),
  )
  expect(modules).toEqual([])
  expect(await readFile(join(dir, 'added/node_modules/new/index.js'), 'utf8')).toBe('x')
  expect(await readlink(join(dir, 'added/web/node_modules'))).toBe('../node_modules')
})

it.each<[string, TarEntry[]]>([
  ['a path that leaves its folder', [file('environment/../../escaped')]],
  ['an absolute path', [file('/tmp/escaped')]],
  ['another top', [file('elsewhere/x')]],
  ['a file through a link', [link('environment/out', '../..'), file('environment/out/escaped')]],
  ['a file before its folder is a link', [file('environment/out/escaped'), link('environment/out', '../..')]],
  ['a link through a link', [link('environment/out', '../..'), link('environment/out/escaped', '/etc/passwd')]],
  ['a link in place of the whole', [link('environment', '/')]],
  ['a link in place of the modules', [folder('workspace/node_modules'), link('workspace/node_modules', '/')]],
  ['a link where tools write', [folder('workspace/node_modules'), link('workspace/node_modules/.cache', '../../..')]],
  ['a device', [{ header: { name: 'environment/sda', size: 0, type: 'block-device' } }]],
  ['a pipe', [{ header: { name: 'environment/pipe', size: 0, type: 'fifo' } }]],
  ['a hard link', [{ header: { name: 'environment/hard', size: 0, type: 'link', linkname: '/etc/passwd' } }]],
  ['a file twice', [file('environment/a'), file('environment/a')]],
  ['modules that would be an option', [folder('workspace/x,source=/etc,target=/y/node_modules')]],
  ['modules that would be another mount', [folder('workspace/a:b/node_modules')]],
  ['modules with a quote', [folder('workspace/"a/node_modules')]],
  ['modules of a long name', [folder(`workspace/${'x/'.repeat(250)}node_modules`)]],
  ['too many bytes', [file('environment/a', 'x'.repeat(1_001))]],
  ['too many entries', Array.from({ length: 21 }, (_, at) => file(`environment/${at}`))],
])('refuses %s, and writes nothing outside', async (_what, entries) => {
  await writeFile(join(top, 'witness'), 'as it was')
  await expect(unpack(...entries)).rejects.toMatchObject({ code: 'SETUP_001' })
  expect((await readdir(top)).toSorted()).toEqual([dir.slice(top.length + 1), 'witness'])
  expect(await readFile(join(top, 'witness'), 'utf8')).toBe('as it was')
})

it('refuses more folders node_modules than a program can be started with', async () => {
  const many = Array.from({ length: 201 }, (_, at) => folder(`workspace/${at}/node_modules`))
  await expect(unpackAll(many, 1_000)).rejects.toMatchObject({ code: 'SETUP_001' })
})

it('refuses what is no tar, or breaks off', async () => {
  const whole = gzipSync(await packTar([file('environment/a', 'x'.repeat(900))]))
  await expect(unpackEnvironment(streamOf(Buffer.from('nonsense')), dir, limits)).rejects.toMatchObject({
    code: 'SETUP_001',
  })
  const cut = streamOf(whole.subarray(0, whole.length - 20))
  await rm(dir, { recursive: true })
  dir = await mkdtemp(join(top, 'into-'))
  await expect(unpackEnvironment(cut, dir, limits)).rejects.toMatchObject({ code: 'SETUP_001' })
})
