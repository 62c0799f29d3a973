import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSoundPacks } from './load-sound-packs.ts'

const good = '(class_definition name: (identifier) @class.name) @class.def\n'

let userDir: string
beforeEach(async () => {
  userDir = await mkdtemp(join(tmpdir(), 'remora-packs-'))
})
afterEach(() => rm(userDir, { recursive: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(userDir, path)), { recursive: true })
  await writeFile(join(userDir, path), text)
}

const refused = async (name = 'default') =>
  loadSoundPacks({ userDir, name }).then(
    () => undefined,
    (error: { code: string; message: string }) => ({ code: error.code, message: error.message }),
  )

describe('loadSoundPacks', () => {
  it('takes a pack of the user’s own, recorded in a manifest or not', async () => {
    await write('python/default/mine.scm', good)
    const packs = await loadSoundPacks({ userDir })
    expect(packs.get('python')).toMatchObject({ folder: join(userDir, 'python/default'), kinds: ['class'] })
  })

  it('takes the pack of a name, whatever is in those of other names', async () => {
    await write('python/mine/a.scm', good)
    await write('python/draft/a.scm', '(unfinished')
    expect([...(await loadSoundPacks({ userDir, name: 'mine' })).keys()]).toEqual(['python'])
  })

  it.for([
    ['python/default/a.scm', `${good}\n(no_such_node) @x.def\n`, 'DISC_002', /a\.scm:3: /],
    ['python/default/a.scm', `${good}\n(module) @module.def\n`, 'DISC_002', /a\.scm:3: .*no @module\.name/],
    ['python/default/notes.txt', 'no query', 'DISC_001', /python\/default:1: no \.scm file/],
    ['klingon/default/a.scm', good, 'DISC_003', /klingon/],
    ['python/a.scm', good, 'DISC_001', /packs-\w+\/python:1: a\.scm lies in no pack: .*python\/default\/a\.scm$/],
    ['a.scm', good, 'DISC_001', /packs-\w+:1: a\.scm lies in no pack: /],
    [
      'python/notes.txt',
      'no query',
      'DISC_001',
      /\/python:1: no pack in it: the layout is <language>\/<pack>\/\*\.scm$/,
    ],
    [
      'python/defualt/a.scm',
      good,
      'DISC_001',
      /\/python:1: no pack named "default" in it, only "defualt": .*query_pack/,
    ],
  ] as const)('refuses %s with %j: %s', async ([path, text, code, message]) => {
    await write(path, text)
    expect(await refused()).toEqual({ code, message: expect.stringMatching(message) })
  })

  it('says in one line how many faults there are beside the first', async () => {
    await write('python/default/a.scm', '(a) @x.def\n')
    await write('python/default/b.scm', '(b) @x.def\n')
    const { message } = (await refused()) ?? {}
    expect(message).toMatch(/^\S+a\.scm:1: .*\(and 1 more: remora queries check\)$/)
  })

  it('refuses a folder that is not there or empty, and a name that no pack has', async () => {
    await rm(userDir, { recursive: true })
    expect(await refused()).toMatchObject({ code: 'DISC_001' })
    await mkdir(userDir)
    expect(await refused()).toMatchObject({ code: 'DISC_001' })
    await write('python/default/a.scm', good)
    expect(await refused('nobody')).toMatchObject({ code: 'DISC_001' })
  })
})
