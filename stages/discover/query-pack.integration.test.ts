import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { languages } from '#languages/syntax/grammars.ts'
import { checkPacks, manifestOf, manifestText } from './check-packs.ts'
import { compileNodeQuery } from './node-query.ts'
import { nodesOfFile } from './outline.fixture.ts'
import { builtinQueries, loadQueryPacks } from './query-pack.ts'

const classPattern = '(class_definition name: (identifier) @class.name) @class.def\n'

/** Two lines, the second with a predicate. */
const predicateOf = (expression: string) =>
  `((class_definition name: (_) @class.name) @class.def\n  (#match? @class.name "${expression}"))\n`

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-queries-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), text)
}

async function faultsOf(text: string) {
  await write('python/default/x.scm', text)
  const { faults } = await checkPacks(dir, { complete: false })
  return faults
    .filter((fault) => fault.fault !== 'hash_mismatch')
    .map(({ code, fault, line }) => ({ code, fault, line }))
}

describe('loadQueryPacks', () => {
  it('lets a user folder replace a language whole, new kinds included, without any code', async () => {
    await write('python/default/import.scm', '(import_statement (dotted_name) @import.name) @import.def\n')
    const pack = (await loadQueryPacks({ userDir: dir })).get('python')
    if (pack === undefined) throw new Error('no pack')
    const query = await compileNodeQuery(pack)
    const bytes = Buffer.from('import os.path\nclass A: pass\n')
    const nodes = nodesOfFile({ path: 'a.py', bytes, language: 'python', query })
    expect(nodes.map((node) => `${node.kind} ${node.name}`)).toEqual(['file a.py', 'import os.path'])
    expect(pack.kinds).toEqual(['import'])
  })

  it('gives a pack another hash when any of its text changes, and the same one in another folder', async () => {
    await write('python/default/x.scm', classPattern)
    await write('python/same/x.scm', classPattern)
    await write('python/other/x.scm', `${classPattern}; a note\n`)
    const hashOf = async (name: string) => (await loadQueryPacks({ builtinDir: dir, name })).get('python')?.hash
    expect(await hashOf('same')).toBe(await hashOf('default'))
    expect(await hashOf('other')).not.toBe(await hashOf('default'))
  })

  it('refuses a missing folder, a pack nobody has, and one without queries', async () => {
    await expect(loadQueryPacks({ builtinDir: join(dir, 'none') })).rejects.toMatchObject({ code: 'DISC_001' })
    await expect(loadQueryPacks({ name: 'nobody' })).rejects.toMatchObject({ code: 'DISC_001' })
    await mkdir(join(dir, 'python/default'), { recursive: true })
    await expect(loadQueryPacks({ builtinDir: dir })).rejects.toMatchObject({ code: 'DISC_001' })
  })

  it('names file and line of a query that does not compile, and the language nobody has a grammar for', async () => {
    await write('python/default/x.scm', `${classPattern}\n(no_such_node) @x.def\n`)
    await expect(loadQueryPacks({ builtinDir: dir })).rejects.toMatchObject({
      code: 'DISC_002',
      message: expect.stringContaining('x.scm:3: '),
    })
    await write('klingon/default/x.scm', classPattern)
    await expect(loadQueryPacks({ userDir: dir })).rejects.toMatchObject({ code: expect.stringMatching(/DISC_00[23]/) })
  })
})

describe('checkPacks', () => {
  it('finds no fault in the packs that come with Remora', async () => {
    expect((await checkPacks(builtinQueries, { complete: true })).faults).toEqual([])
  })

  it.each([
    ['empty_file', '; nothing here\n', 1],
    ['does_not_compile', `${classPattern}(oops`, 2],
    ['does_not_compile', '(identifier) @x.def (#match? @x.def)', 1],
    ['does_not_compile', `${predicateOf('^A')}${predicateOf('(')}`, 4],
    ['does_not_compile', `; (\n(identifier) @x ; "\n(class_definition\n name: (_) @class.name @class.def`, 3],
    ['duplicate_capture', '(class_definition name: (identifier) @c.name body: (block (_)* @c.name)) @c.def', 1],
    ['invalid_capture_name', `\n${classPattern.replace('@class.name', '@class.name @Bad')}`, 2],
    ['missing_capture', '(class_definition) @class.def', 1],
    ['missing_capture', '(class_definition name: (identifier) @class.name)', 1],
    ['unsupported_predicate', '((class_definition name: (identifier) @c.name) @c.def (#gsub! @c.name "a" "b"))', 1],
    ['unsupported_predicate', '((class_definition name: (identifier) @c.name) @c.def (#set! colour red))', 1],
  ])('reports %s', async (fault, text, line) => {
    expect(await faultsOf(text)).toEqual([{ code: 'DISC_002', fault, line }])
  })

  it('accepts predicates and captures that only serve them', async () => {
    expect(await faultsOf(`(${classPattern.replace('@class.name', '@class.name @_n')} (#match? @_n "^T"))`)).toEqual([])
  })

  it('reports a manifest that does not fit, until it is written anew', async () => {
    await write('python/default/x.scm', classPattern)
    const mismatch = [expect.objectContaining({ code: 'DISC_004', fault: 'hash_mismatch' })]
    expect((await checkPacks(dir, { complete: false })).faults).toEqual(mismatch)
    const pack = { language: 'python', pack: 'default', folder: join(dir, 'python/default') }
    await write('python/default/manifest.json', manifestText(await manifestOf(pack)))
    expect((await checkPacks(dir, { complete: false })).faults).toEqual([])
    await write('python/default/x.scm', `${classPattern}; changed\n`)
    expect((await checkPacks(dir, { complete: false })).faults).toEqual(mismatch)
    await write('python/default/x.scm', classPattern)
    await write('python/default/references.scm', '(call function: (identifier) @call.name)\n')
    expect((await checkPacks(dir, { complete: false })).faults).toEqual(mismatch)
  })

  it.each([
    ['a capture that says nothing', '(call function: (identifier) @called.name)\n', 'invalid_capture_name'],
    ['two kinds in one pattern', '(call function: (identifier) @call.name) @import.name\n', 'missing_capture'],
    ['a type there is none of', '(x) @call.name\n', 'does_not_compile'],
  ])('finds in references.scm %s', async (_, text, fault) => {
    await write('python/default/x.scm', classPattern)
    await write('python/default/references.scm', text)
    const { faults } = await checkPacks(dir, { complete: false })
    expect(faults).toContainEqual(expect.objectContaining({ fault, code: 'DISC_002', line: 1 }))
  })

  it('reports folders that are missing and languages that have no grammar', async () => {
    const faultsIn = async (path: string, complete: boolean) =>
      (await checkPacks(path, { complete })).faults.map(({ code, fault }) => `${code} ${fault}`)
    expect(await faultsIn(join(dir, 'none'), false)).toEqual(['DISC_001 missing_folder'])
    await write('klingon/default/x.scm', classPattern)
    const missing = languages.map(() => 'DISC_001 missing_folder')
    expect(await faultsIn(dir, true)).toEqual(['DISC_003 unknown_language', ...missing])
  })
})
