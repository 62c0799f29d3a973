import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPacks } from './check-packs.ts'
import { listPackFolders, loadQueryPacks } from './query-pack.ts'

const good = '(class_definition name: (identifier) @class.name) @class.def\n'

let top: string
let dir: string
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-layout-'))
  dir = join(top, 'packs')
  await mkdir(dir)
})
afterEach(() => rm(top, { recursive: true }))

async function write(path: string, text = good): Promise<void> {
  await mkdir(dirname(join(top, path)), { recursive: true })
  await writeFile(join(top, path), text)
}

/** What `remora queries check` says, but for manifests. */
async function faults(name?: string): Promise<string[]> {
  const checked = await checkPacks(dir, { complete: false, name })
  return checked.faults
    .filter(({ fault }) => fault !== 'hash_mismatch')
    .map(({ code, fault, file, message }) => `${code} ${fault} ${file.slice(top.length + 1)}: ${message}`)
}

const layout = 'the layout is <language>/<pack>/*.scm'

describe('the layout of a folder of packs', () => {
  it.for([
    [
      'queries without the folder of a pack',
      ['python/a.scm'],
      `packs/python: a.scm lies in no pack: ${layout}, such as python/default/a.scm`,
    ],
    [
      'queries beside a pack',
      ['python/default/a.scm', 'python/b.scm'],
      `packs/python: b.scm lies in no pack: ${layout}, such as python/default/b.scm`,
    ],
    ['queries without any folder', ['a.scm'], `packs: a.scm lies in no pack: ${layout}, such as python/default/a.scm`],
    ['a language without a pack', ['python/default/a.scm', 'rust/readme.md'], `packs/rust: no pack in it: ${layout}`],
    ['a folder without a language', ['readme.md'], `packs: no folder of a language in it: ${layout}`],
    ['an empty folder', [], `packs: no folder of a language in it: ${layout}`],
  ] as const)('is told of: %s', async ([, paths, fault]) => {
    for (const path of paths) await write(join('packs', path))
    expect(await faults()).toEqual([`DISC_001 missing_folder ${fault}`])
    const refusal = { code: 'DISC_001', message: join(top, fault) }
    await expect(listPackFolders(dir)).rejects.toMatchObject(refusal)
    await expect(loadQueryPacks({ userDir: dir })).rejects.toMatchObject(refusal)
  })

  it('is followed through links to languages, packs and files', async () => {
    await write('elsewhere/default/a.scm')
    await symlink(join(top, 'elsewhere'), join(dir, 'python'))
    await mkdir(join(dir, 'ruby'))
    await write('own/a.scm', '(class name: (_) @class.name) @class.def\n')
    await symlink(join(top, 'own'), join(dir, 'ruby/default'))
    await mkdir(join(dir, 'lua/default'), { recursive: true })
    await write('f.scm', '(function_declaration name: (_) @function.name) @function.def\n')
    await symlink(join(top, 'f.scm'), join(dir, 'lua/default/f.scm'))
    expect(await faults()).toEqual([])
    const packs = await loadQueryPacks({ userDir: dir })
    expect(packs.get('python')).toMatchObject({ folder: join(dir, 'python/default'), kinds: ['class'] })
    expect(packs.get('ruby')).toMatchObject({ folder: join(dir, 'ruby/default'), kinds: ['class'] })
    expect(packs.get('lua')).toMatchObject({ folder: join(dir, 'lua/default'), kinds: ['function'] })
  })

  it('is told of where a link leads nowhere', async () => {
    await write('packs/python/default/a.scm')
    await symlink(join(top, 'gone'), join(dir, 'rust'))
    await symlink(join(top, 'gone'), join(dir, 'python/mine'))
    await symlink(join(top, 'gone.scm'), join(dir, 'python/default/references.scm'))
    expect(await faults()).toEqual([
      'DISC_001 missing_folder packs: rust is a link that leads nowhere',
      'DISC_001 missing_folder packs/python: mine is a link that leads nowhere',
      `DISC_005 unreadable_file packs/python/default: query file ${join(dir, 'python/default/references.scm')} cannot be read`,
    ])
  })

  it('is no matter of hidden files and folders', async () => {
    await write('packs/python/default/a.scm')
    await write('packs/.git/hooks/a.sample')
    await write('packs/python/.idea/a.xml')
    await symlink('somebody@somewhere.1', join(dir, 'python/default/.#a.scm'))
    expect(await faults()).toEqual([])
  })

  it('has each language’s pack in use, or its default where another is in use', async () => {
    await write('packs/python/defualt/a.scm')
    await write('packs/rust/default/a.scm', '(struct_item name: (_) @struct.name) @struct.def\n')
    const advice = 'rename it, or set discovery.query_pack; packs for another setting belong in a folder of their own'
    const only = (names: string) => [
      `DISC_001 missing_folder packs/python: no pack named ${names} in it, only "defualt": ${advice}`,
    ]
    expect(await faults()).toEqual(only('"default"'))
    expect(await faults('strict')).toEqual(only('"strict" or "default"'))
    expect(await faults('defualt')).toEqual([])
  })
})
