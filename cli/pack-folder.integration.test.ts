import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { discoverFolder } from '#stages/discover/discover-folder.ts'
import { packFolder, packPath } from './pack-folder.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'remora-pack-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options = { signal: AbortSignal.timeout(20_000) }

async function folderOf(files: Record<string, string | Buffer>): Promise<string> {
  const folder = await mkdtemp(join(root, 'f-'))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream))
}

/** The packed archive's entries by name, as an independent reader sees them. */
async function entriesOf(stream: AsyncIterable<Uint8Array>) {
  const entries = await unpackTar(gunzipSync(await bytesOf(stream)), { strict: true })
  return new Map(
    entries.map(({ header, data }) => [header.name, { ...header, text: Buffer.from(data ?? []).toString() }]),
  )
}

describe('packFolder', () => {
  it('packs in path order, byte for byte the same each time', async () => {
    const folder = await folderOf({ 'b.py': 'b', 'a/z.py': 'z', 'a.py': 'a', 'a/empty': '' })
    const packed = await packFolder(folder, options)
    expect(packed.files).toBe(4)
    const first = await bytesOf(packed.stream)
    expect((await bytesOf((await packFolder(folder, options)).stream)).equals(first)).toBe(true)
    const entries = await entriesOf((await packFolder(folder, options)).stream)
    expect([...entries.keys()]).toEqual(['a.py', 'a/empty', 'a/z.py', 'b.py'])
  })

  it.skipIf(lacks('git'))(
    'agrees with Git about what is ignored, the deeper .gitignore having the last word',
    async () => {
      const folder = await folderOf({
        '.gitignore': 'tmp*\n!tmp-kept\n**/cache/\ndocs/*.txt\n\\#odd\n',
        tmp1: '',
        'tmp-kept': '',
        'x/tmp2': '',
        'x/cache/y': '',
        'docs/a.txt': '',
        'docs/b/c.txt': '',
        '#odd': '',
        'sub/.gitignore': '!tmp-sub\n/local.py\n',
        'sub/tmp-sub': '',
        'sub/local.py': '',
        'sub/deep/local.py': '',
      })
      const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args]).toString()
      git('init', '-q')
      const listed = git('ls-files', '--others', '--exclude-standard', '-z')
        .split('\0')
        .filter((path) => path !== '')
      expect([...(await entriesOf((await packFolder(folder, options)).stream)).keys()]).toEqual(listed.toSorted())
    },
  )

  it('never sends history or installed packages, and reports only the latter', async () => {
    const folder = await folderOf({
      'a.py': '',
      '.git/config': '',
      '.remora/stack-version': '',
      'env/pyvenv.cfg': '',
      'env/lib/x.py': '',
      'web/node_modules/x/y.js': '',
      'p/__pycache__/a.pyc': '',
      '.venv/bin/python': '',
    })
    const packed = await packFolder(folder, options)
    expect(packed.files).toBe(1)
    expect(packed.skipped).toEqual([
      { path: '.venv', reason: '.venv is never sent' },
      { path: 'env', reason: 'vendored' },
      { path: 'p/__pycache__', reason: 'vendored' },
      { path: 'web/node_modules', reason: 'vendored' },
    ])
  })

  it('sends what git tracks although .gitignore names it, and says that a run has to include it', async () => {
    const folder = await folderOf({ 'a.py': '', '.gitignore': '*.gen.py\n', 'b.gen.py': '', 'c.gen.py': '' })
    expect((await packFolder(folder, options)).include).toEqual([])
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    execFileSync('git', ['add', '--force', 'b.gen.py'], { cwd: folder })
    const packed = await packFolder(folder, options)
    expect([...(await entriesOf(packed.stream)).keys()]).toEqual(['.gitignore', 'a.py', 'b.gen.py'])
    expect(packed.include).toEqual(['ignored'])
  })

  it('sends vendored code, which agents may read, and installed packages when they are included', async () => {
    const folder = await folderOf({ 'vendor/a.py': '', 'node_modules/b.js': '' })
    expect([...(await entriesOf((await packFolder(folder, options)).stream)).keys()]).toEqual(['vendor/a.py'])
    expect((await packFolder(folder, { ...options, include: ['vendored'] })).files).toBe(2)
  })

  it('leaves out its own state and patches without a word, and nothing that only looks like them', async () => {
    const folder = await folderOf({
      'a.py': '',
      '.remora/redis/x': '',
      '.remora-1b4e28ba.part': '',
      'remora-r0mc1x2y3zabcdefgh.patch': '',
      'sub/remora-r0mc1x2y3zabcdefgh.patch': '',
      'remora-fixes.patch': '',
      'remora/b.py': '',
    })
    const packed = await packFolder(folder, options)
    expect([...(await entriesOf(packed.stream)).keys()]).toEqual(['a.py', 'remora-fixes.patch', 'remora/b.py'])
    expect(packed.skipped).toEqual([])
  })

  it('sends the code that discovery finds in the same folder of a checkout, and no other', async () => {
    const checkout = await folderOf({
      '.git/HEAD': '',
      '.gitignore': 'ignored.py\nUpper.py\n/sub/gone/\n',
      'sub/ignored.py': '',
      'sub/a.py': '',
      'sub/upper.py': '',
      'sub/Upper.py': '',
      'sub/gone/b.py': '',
      'sub/deep/ignored.py': '',
      'sub/deep/c.py': '',
      'sub/vendor/modules.txt': '',
      'sub/vendor/d.py': '',
    })
    const folder = join(checkout, 'sub')
    const sent = [...(await entriesOf((await packFolder(folder, options)).stream)).keys()]
    const { nodes } = await discoverFolder(folder, { threads: 1 }, options.signal)
    expect(sent).toEqual(['a.py', 'deep/c.py', 'upper.py'])
    expect(nodes.map(({ path }) => path)).toEqual(sent)
  })

  it('keeps links that stay inside as links, and names those that do not', async () => {
    const folder = await folderOf({ 'src/a.py': 'x' })
    await symlink('../src/a.py', join(folder, 'src/inside'))
    await symlink('../../etc/passwd', join(folder, 'src/outside'))
    await symlink('/etc/passwd', join(folder, 'absolute'))
    const packed = await packFolder(folder, options)
    const entries = await entriesOf(packed.stream)
    expect(entries.get('src/inside')).toMatchObject({ type: 'symlink', linkname: '../src/a.py' })
    expect(packed.skipped.map(({ path }) => path)).toEqual(['absolute', 'src/outside'])
    expect(packed.files).toBe(2)
  })

  it('leaves out a file that is too large or no file, with the reason', async () => {
    const folder = await folderOf({ 'a.py': '', 'huge.bin': '' })
    await truncate(join(folder, 'huge.bin'), 64 * 1024 ** 2 + 1)
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const packed = await packFolder(folder, options)
    expect(packed.skipped).toEqual([
      { path: 'huge.bin', reason: 'larger than 67108864 bytes' },
      { path: 'pipe', reason: 'not a file' },
    ])
  })

  it('fails its stream with INTAKE_001 when a file vanishes while it packs', async () => {
    const folder = await folderOf({ 'a.py': 'a', 'b.py': 'b' })
    const packed = await packFolder(folder, options)
    await rm(join(folder, 'b.py'))
    await expect(bytesOf(packed.stream)).rejects.toMatchObject({ code: 'INTAKE_001' })
  })

  it('can be left, or aborted, in the middle', async () => {
    const folder = await folderOf(
      Object.fromEntries(Array.from({ length: 40 }, (_v, at) => [`f${at}`, randomBytes(1 << 20)])),
    )
    for await (const chunk of (await packFolder(folder, options)).stream) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    const abort = new AbortController()
    const packed = await packFolder(folder, { signal: abort.signal })
    const reading = (async () => {
      for await (const _chunk of packed.stream) abort.abort(new Error('enough'))
    })()
    await expect(reading).rejects.toThrow('enough')
  })
})

describe('packPath', () => {
  it('passes an archive through as it is, whatever it is called', async () => {
    const folder = await folderOf({ 'a.py': 'x' })
    const archive = join(root, 'archive.bin')
    execFileSync('tar', ['-czf', archive, '-C', folder, '.'])
    const packed = await packPath(archive, options)
    expect(packed.files).toBeNull()
    expect(gunzipSync(await bytesOf(packed.stream)).length).toBeGreaterThan(1024)
  })

  it('says what an archive of another kind is, and what to send instead', async () => {
    const path = join(await folderOf({ 'x.zip': Buffer.from('7z\xbc\xaf\x27\x1c and more', 'latin1') }), 'x.zip')
    const message = `${path} is a 7z archive: send a .tar, .tar.gz, .tgz or .zip instead`
    await expect(packPath(path, options)).rejects.toMatchObject({ code: 'INTAKE_001', message })
  })

  it.each([
    ['a path that is not there', async () => join(root, 'none')],
    ['a file that is no archive', async () => join(await folderOf({ 'a.tar': 'x = 1\n'.repeat(200) }), 'a.tar')],
    ['a device', async () => '/dev/null'],
  ])('refuses %s with INTAKE_001', async (_name, path) => {
    await expect(packPath(await path(), options)).rejects.toMatchObject({ code: 'INTAKE_001' })
  })

  it('refuses a folder without a file to send with INTAKE_007', async () => {
    const folder = await folderOf({ '.git/config': 'x', 'x.log': '', '.gitignore': '.gitignore\n*.log\n' })
    await expect(packPath(folder, options)).rejects.toMatchObject({ code: 'INTAKE_007' })
  })

  it('does not send what is a secret by its name, unless it is asked for', async () => {
    const folder = await folderOf({ 'a.py': '', '.env': 'TOKEN=1\n', 'deploy/id_rsa': 'key', '.env.example': '' })
    const packed = await packPath(folder, options)
    expect([...(await entriesOf(packed.stream)).keys()]).toEqual(['.env.example', 'a.py'])
    expect(packed.skipped).toEqual([
      { path: '.env', reason: 'a secret by its name' },
      { path: 'deploy/id_rsa', reason: 'a secret by its name' },
    ])
    expect((await packPath(folder, { ...options, include: ['secrets'] })).files).toBe(4)
  })
})
