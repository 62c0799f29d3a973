import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { discoverFolder, type FolderOptions } from './discover-folder.ts'

const never = new AbortController().signal
const trees = 13
let base: string
let taken = 0
/** One of many equal trees, which grow old together: what changed less than two seconds ago is parsed again. */
let top: string

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'remora-index-'))
  for (let tree = 0; tree < trees; tree++) {
    top = join(base, String(tree))
    await write({
      'src/shop.py': 'import money\n\n\nclass Shop:\n    def total(self):\n        return money.sum()\n',
      'src/money.py': 'def sum(): pass\n',
      'src/notes.md': '# Notes\n\n## Today\n',
      'src/torn.py': 'def fine(): pass\n\ndef torn(:\n    pass\n',
      'src/gen.py': '# @generated\n',
      'src/data.xyz': 'no language\n',
    })
  }
  await until(discover, { holds: ({ parsed }) => parsed === 0 })
})
afterAll(() => rm(base, { recursive: true }))
beforeEach(() => {
  top = join(base, String(taken++))
})

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), text)
  }
}

const discover = (options: FolderOptions = {}) =>
  discoverFolder(join(top, 'src'), { threads: 1, indexDir: join(top, 'cache'), ...options }, never)

const indexFiles = async () => (await readdir(join(top, 'cache'))).map((name) => join(top, 'cache', name))

async function found(options: FolderOptions = {}) {
  const { durationMs: _, parsed, ...rest } = await discover(options)
  return { parsed, rest }
}

describe('the index a discovery leaves', () => {
  it('spares the next one of the same folder all parsing, and changes nothing of what it tells', async () => {
    const { rest: without } = await found({ indexDir: join(top, 'nowhere') })
    await discover()
    expect(await found()).toEqual({ parsed: 0, rest: without })
  })

  it('is of no use for a file that changed, even when its size and time are put back', async () => {
    await discover()
    const file = join(top, 'src/money.py')
    const { atime, mtime } = await stat(file)
    await writeFile(file, 'def sub(): pass\n')
    await utimes(file, atime, mtime)
    const { parsed, rest } = await found()
    expect(parsed).toBe(1)
    expect(rest.nodes.map((node) => node.qualifiedName)).toContain('sub')
  })

  it('forgets what is gone, and keeps what was not asked for', async () => {
    await discover()
    await rm(join(top, 'src/shop.py'))
    await discover({ filters: { languages: ['markdown'] } })
    const [file = ''] = await indexFiles()
    expect(await readFile(file, 'utf8')).not.toContain('shop.py')
    expect((await found()).parsed).toBe(0)
  })

  it('is of no use under other query packs', async () => {
    await discover()
    await write({ 'packs/python/default/mine.scm': '(function_definition name: (identifier) @thing.name) @thing.def' })
    const { parsed, rest } = await found({ packs: { userDir: join(top, 'packs') } })
    expect(parsed).toBe(4)
    expect(rest.nodes.map(({ kind }) => kind)).toContain('thing')
  })

  it('tells the same edges as parsing does, and serves a discovery without edges, too', async () => {
    const packs = { references: true }
    const { rest: without } = await found({ packs, indexDir: join(top, 'nowhere') })
    expect(without.edges).not.toEqual([])
    await discover()
    expect((await found({ packs })).parsed).toBe(4)
    expect(await found({ packs })).toEqual({ parsed: 0, rest: without })
    expect((await found()).parsed).toBe(0)
  })

  it.each([
    ['cut off', (text: string) => text.slice(0, -20)],
    ['changed by one letter', (text: string) => text.replace('total', 'tutal')],
    ['of another version', (text: string) => text.replace(/^(.*) \d+ /, '$1 0 ')],
    ['empty', () => ''],
    ['no index at all', () => 'remora\n'.repeat(3)],
  ])('is not believed when it is %s', async (_what, damage) => {
    await discover()
    const { rest } = await found()
    const [file = ''] = await indexFiles()
    await writeFile(file, damage(await readFile(file, 'utf8')))
    expect(await found()).toEqual({ parsed: 6, rest })
  })

  it('can be read by its owner alone, and is missed by nobody where it cannot be written', async () => {
    await discover()
    const [file = ''] = await indexFiles()
    expect((await stat(file)).mode & 0o077).toBe(0)
    await write({ taken: 'a file where a folder should be' })
    expect((await found({ indexDir: join(top, 'taken') })).rest.nodes.length).toBeGreaterThan(5)
    expect((await found({ indexDir: '/proc/nope/remora/discover' })).rest.nodes.length).toBeGreaterThan(5)
    await chmod(join(top, 'cache'), 0o500)
    expect((await found()).rest.nodes.length).toBeGreaterThan(5)
    await chmod(join(top, 'cache'), 0o700)
  })

  it('of a folder nobody looked into for a month is deleted with the next one that is written', async () => {
    await discover()
    const [file = ''] = await indexFiles()
    const longAgo = new Date(Date.now() - 40 * 86_400_000)
    await utimes(file, longAgo, longAgo)
    const other = join(base, String(trees - 1), 'src')
    await discoverFolder(other, { threads: 1, indexDir: join(top, 'cache') }, never)
    const left = await indexFiles()
    expect(left).toHaveLength(1)
    expect(left).not.toContain(file)
  })
})
