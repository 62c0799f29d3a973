import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { tenLines, useApplying } from './apply-command.fixture.ts'

const applying = useApplying({ PATH: process.env['PATH'] })

const before = tenLines()
const after = tenLines({ 2: 'line two' })

describe('remora apply', () => {
  it('writes what is as the run found it, creates and deletes, and says the second time that all is there', async () => {
    const runId = await applying.proposing({
      'a.py': { before, after },
      'new/deep/b.py': { before: null, after: 'b = 1' },
      'old/c.py': { before: 'c = 1\n', after: null },
    })
    await applying.copy.write({ 'a.py': before, 'old/c.py': 'c = 1\n' })
    await chmod(join(applying.copy.path, 'a.py'), 0o750)
    expect(await applying.copy.apply(runId)).toEqual({
      code: 0,
      out: `a.py  changed\nnew/deep/b.py  created\nold/c.py  deleted\n3 files written: ${applying.copy.path}\n`,
      err: '',
    })
    expect([await applying.copy.read('a.py'), await applying.copy.read('new/deep/b.py')]).toEqual([after, 'b = 1'])
    expect((await stat(join(applying.copy.path, 'a.py'))).mode & 0o777).toBe(0o750)
    expect((await readdir(applying.copy.path)).toSorted()).toEqual(['a.py', 'new'])
    const state = await applying.copy.everything()
    expect((await applying.copy.apply(runId)).out).toMatch(
      /^a\.py {2}there already\nnew\S+ {2}there already\nold\S+ {2}there already\nall of it is there already: /,
    )
    expect(await applying.copy.everything()).toEqual(state)
  })

  it('has nothing to do before anything is accepted', async () => {
    const runId = await applying.proposing({ 'a.py': { before, after } })
    await applying.copy.write({ 'a.py': before })
    expect(await applying.copy.apply(runId, '--of', 'accepted')).toEqual({
      code: 0,
      out: `run ${runId}: nothing to apply, nothing of it is accepted\n`,
      err: '',
    })
    expect(await applying.copy.read('a.py')).toBe(before)
  })

  it.skipIf(lacks('git'))('merges with what has changed since, once', async () => {
    const runId = await applying.proposing({ 'a.py': { before, after } })
    await applying.copy.write({ 'a.py': tenLines({ 7: 'mine' }) })
    const { out } = await applying.copy.apply(runId, '--json')
    expect(JSON.parse(out)).toEqual({
      run_id: runId,
      of: 'proposed',
      folder: applying.copy.path,
      files: [{ path: 'a.py', result: 'merged' }],
    })
    const merged = tenLines({ 2: 'line two', 7: 'mine' })
    expect(await applying.copy.read('a.py')).toBe(merged)
    expect((await applying.copy.apply(runId)).out).toContain('all of it is there already')
    expect(await applying.copy.read('a.py')).toBe(merged)
  })

  it.skipIf(lacks('git'))('takes what was accepted after the last time, beside texts that occur often', async () => {
    const doc = ['    """Return it.', '', '    Returns:', '        The result.', '    """']
    const shop = ['import os', '', '', 'def price(x):', '    return x', '', '', 'def half(x):', '    return x / 2', '']
    const first = [...shop.slice(0, 4), ...doc, ...shop.slice(4, 8), ...doc, ...shop.slice(8)]
    const text = (all: readonly string[]) => all.join('\n')
    const once = await applying.proposing({ 'shop.py': { before: text(shop), after: text(first) } })
    const more = await applying.proposing({ 'shop.py': { before: text(shop), after: text(first.slice(3)) } })
    await applying.copy.write({ 'shop.py': `${text(shop)}\n\ndef own(x):\n    return x * 3\n` })
    await applying.copy.apply(once)
    expect((await applying.copy.apply(more)).out).toContain('shop.py  merged')
    expect(await applying.copy.read('shop.py')).toBe(`${text(first.slice(3))}\n\ndef own(x):\n    return x * 3\n`)
  })

  it('adds the tests that were accepted after the last time to the file that the run has made or extended', async () => {
    const path = 'tests/test_shop.py'
    const test = (name: string) => `\n\ndef test_${name}():\n    assert ${name}(1)\n`
    const was = `from shop import price\n${test('price')}`
    const extended = `${was.replace('price', 'price, tax, total')}${test('tax')}${test('total')}`
    const extending = await applying.proposing({ [path]: { before: was, after: extended } })
    await applying.copy.write({ [path]: `${was.replace('price', 'price, total')}${test('total')}` })
    expect((await applying.copy.apply(extending)).out).toContain(`${path}  changed`)
    expect(await applying.copy.read(path)).toBe(extended)
    const first = 'from shop import price\n\n\ndef test_price():\n    assert price(1) == 3\n'
    const all = `${first.replace('price\n', 'price, total\n')}\n\ndef test_total():\n    assert total(1) == 7\n`
    const more = await applying.proposing({ [path]: { before: null, after: all } })
    await applying.copy.write({ [path]: first })
    expect((await applying.copy.apply(more)).out).toContain(`${path}  changed`)
    expect(await applying.copy.read(path)).toBe(all)
    await applying.copy.write({ [path]: first.replace('== 3', '== 4') })
    await expect(applying.copy.apply(more)).rejects.toMatchObject({
      message: expect.stringContaining('another file with that name'),
    })
  })

  it.skipIf(lacks('git')).for([
    ['CRLF', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
    ['no newline at the end', (text: string) => Buffer.from(text.trimEnd())],
    ['a BOM', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['bytes that are not UTF-8', (text: string) => Buffer.from(text.replaceAll('line', 'z\u00e9ro'), 'latin1')],
  ] as const)('keeps every byte of a file with %s, written and merged', async ([, encode]) => {
    const runId = await applying.proposing({ 'a.txt': { before: encode(before), after: encode(after) } })
    await applying.copy.write({ 'a.txt': encode(before) })
    await applying.copy.apply(runId)
    expect(await readFile(join(applying.copy.path, 'a.txt'))).toEqual(encode(after))
    await applying.copy.write({ 'a.txt': encode(tenLines({ 9: 'mine' })) })
    await applying.copy.apply(runId)
    expect(await readFile(join(applying.copy.path, 'a.txt'))).toEqual(encode(tenLines({ 2: 'line two', 9: 'mine' })))
  })

  it('says once that it is the wrong folder, and which one has the files', async () => {
    const runId = await applying.proposing({ 'src/a.py': { before, after }, 'b.py': { before, after } })
    await applying.copy.write({ 'part/src/a.py': before, 'part/b.py': before, 'part/src/deep/c.py': before })
    const where = (folder: string) => `they are in ${folder}: remora apply ${runId} --to ${folder}`
    const found = { code: 'WORK_002', message: expect.stringContaining(where('part')) }
    await expect(applying.copy.apply(runId)).rejects.toMatchObject(found)
    await applying.copy.write({ 'copy/src/a.py': before, 'copy/b.py': before })
    const unknown = { code: 'WORK_002', message: expect.stringContaining('with --to') }
    await expect(applying.copy.apply(runId)).rejects.toMatchObject(unknown)
    await rm(join(applying.copy.path, 'copy'), { recursive: true })
    const above = applying.copy.apply(runId, '--to', 'part/src/deep')
    await expect(above).rejects.toMatchObject({ message: expect.stringContaining(where('part')) })
    expect(await applying.copy.read('part/b.py')).toBe(before)
    if (lacks('git')) return
    await promisify(execFile)('git', ['init', '-q'], { cwd: applying.copy.path })
    await promisify(execFile)('git', ['add', '-A'], { cwd: applying.copy.path })
    await expect(applying.copy.apply(runId)).rejects.toMatchObject({ message: expect.stringContaining(where('part')) })
    expect((await applying.copy.apply(runId, '--to', 'part')).out).toContain('2 files written: part\n')
  })

  it.skipIf(lacks('git'))(
    'writes nothing when one file does not take its change, and names every such file',
    async () => {
      const elsewhere = await mkdtemp(join(tmpdir(), 'remora-elsewhere-'))
      const runId = await applying.proposing({
        'a-fits.py': { before, after },
        'binary.bin': { before: Buffer.from([0, 1, 2]), after: Buffer.from([0, 1, 3]) },
        'created.py': { before: null, after: 'mine\n' },
        'deleted.py': { before, after: null },
        'folder.py': { before, after },
        'gone.py': { before, after },
        'inside/link.py': { before, after },
        'link.py': { before, after },
        'same-lines.py': { before, after },
        'taken/new.py': { before: null, after: 'x\n' },
      })
      await applying.copy.write({
        'a-fits.py': before,
        'binary.bin': Buffer.from([0, 1, 4]),
        'created.py': 'another\n',
        'deleted.py': `${before}more\n`,
        'same-lines.py': tenLines({ 2: 'not that' }),
        taken: 'a file',
      })
      await mkdir(join(applying.copy.path, 'folder.py'))
      await writeFile(join(elsewhere, 'link.py'), before)
      await symlink(elsewhere, join(applying.copy.path, 'inside'))
      await symlink(join(elsewhere, 'link.py'), join(applying.copy.path, 'link.py'))
      const state = await applying.copy.everything()
      const failed = await applying.copy.apply(runId).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failed).toMatchObject({ code: 'WORK_002' })
      expect(String(failed).split('\n')).toEqual([
        'AppError: nothing was written, because 9 files do not take the changes:',
        'binary.bin: it has changed since in the same lines or right beside them, or it is no text',
        'created.py: the run creates it, and there is another file with that name',
        'deleted.py: the run deletes it, and it has changed since',
        'folder.py: it is no regular file',
        'gone.py: there is no such file any more',
        'inside/link.py: inside is a link',
        'link.py: it is a link',
        'same-lines.py: it has changed since in the same lines or right beside them: line 3',
        'taken/new.py: taken is no folder',
      ])
      expect(await applying.copy.everything()).toEqual(state)
      expect(await readFile(join(elsewhere, 'link.py'), 'utf8')).toBe(before)
      await rm(elsewhere, { recursive: true })
    },
  )

  it('puts back what it has written when a later file cannot be', async () => {
    const runId = await applying.proposing({
      'a.py': { before, after },
      'gone/b.py': { before: 'b\n', after: null },
      'made/deep/c.py': { before: null, after: 'c\n' },
      x: { before: null, after: 'a file\n' },
      'x/y.py': { before: null, after: 'below that file\n' },
    })
    await applying.copy.write({ 'a.py': before, 'gone/b.py': 'b\n' })
    await chmod(join(applying.copy.path, 'gone/b.py'), 0o700)
    const state = await applying.copy.everything()
    await expect(applying.copy.apply(runId)).rejects.toMatchObject({
      code: 'WORK_002',
      message: expect.stringContaining('what had been written was put back, so nothing is changed'),
    })
    expect(await applying.copy.everything()).toEqual(state)
    expect((await stat(join(applying.copy.path, 'gone/b.py'))).mode & 0o777).toBe(0o700)
  })

  it.for(['../out.py', '/etc/out.py', '.git/hooks/pre-commit', 'sub/.GIT/config', 'GIT~1/config', 'a//b.py'])(
    'does not write where a service says %s',
    async (path) => {
      const runId = await applying.proposing({ [path]: { before: null, after: 'x\n' } })
      const state = await applying.copy.everything()
      await expect(applying.copy.apply(runId)).rejects.toMatchObject({ code: 'INTAKE_002' })
      expect(await applying.copy.everything()).toEqual(state)
    },
  )

  it('leaves nothing in the folder for temporary files', async () => {
    const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('remora-apply-'))
    const was = await left()
    const runId = await applying.proposing({ 'a.py': { before, after } })
    await expect(applying.copy.apply(runId)).rejects.toMatchObject({ code: 'WORK_002' })
    await applying.copy.write({ 'a.py': before })
    await applying.copy.apply(runId)
    expect(await left()).toEqual(was)
  })
})
