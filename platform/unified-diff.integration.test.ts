import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { draws, fc } from '#testing/fast-check.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { unifiedDiff, type FileVersions } from './unified-diff.ts'

const run = promisify(execFile)
let dir = ''

/** Writes every `before`, applies one patch of all files with git, and returns the resulting files. */
async function applied(files: readonly FileVersions[]): Promise<(Buffer | null)[]> {
  for (const { path, before } of files) {
    const target = join(dir, path)
    await rm(target, { force: true })
    await mkdir(dirname(target), { recursive: true })
    if (before !== null) await writeFile(target, before)
  }
  const patch = join(dir, '.git', 'all.patch')
  await writeFile(patch, Buffer.concat(files.map((file) => unifiedDiff(file))))
  const flags = ['-C', dir, 'apply', '--whitespace=nowarn']
  await run('git', [...flags, '--check', patch])
  await run('git', [...flags, patch])
  return Promise.all(files.map(({ path }) => contentOf(join(dir, path))))
}

async function contentOf(path: string): Promise<Buffer | null> {
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  return exists ? readFile(path) : null
}

const text = (content: string) => Buffer.from(content)
const cases: Record<string, FileVersions> = {
  'a new file': { path: 'src/new.py', before: null, after: text('x = 1\n') },
  'a new empty file': { path: 'src/__init__.py', before: null, after: text('') },
  'a deleted file': { path: 'old.py', before: text('x = 1\ny = 2\n'), after: null },
  'a deleted empty file': { path: 'empty.py', before: text(''), after: null },
  'more changed lines than a call has arguments': {
    path: 'large.go',
    before: text('a\n'.repeat(100_000)),
    after: text('b\n'.repeat(100_000)),
  },
  'spaces in a path': { path: 'my docs/a file.py', before: text('a\n'), after: text('b\n') },
  'a new file with spaces in its path': { path: 'my docs/new file.py', before: null, after: text('') },
  'a non-ASCII path': { path: 'größe/日本 語.py', before: text('a\n'), after: text('b\n') },
  'a deleted file with a non-ASCII path': { path: 'größe.py', before: text('a\n'), after: null },
  'quotes and tabs in a path': { path: 'we"ird\tname.py', before: text('a\n'), after: text('b\n') },
}

it('a diff is empty when nothing changed', () => {
  expect(unifiedDiff({ path: 'a.py', before: text('a\n'), after: text('a\n') })).toHaveLength(0)
})

describe.skipIf(lacks('git'))('unifiedDiff', () => {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-diff-'))
    await run('git', ['init', '-q', dir])
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  it.each([
    ['a new file', { before: null, after: text('x\n'), executable: true }, undefined, 0o755],
    ['an edited file that gets it', { before: text('x\n'), after: text('y\n'), executable: true }, 0o644, 0o755],
    ['a file that only loses it', { before: text('x\n'), after: text('x\n'), executable: false }, 0o755, 0o644],
    ['an edited file that keeps it', { before: text('x\n'), after: text('y\n') }, 0o755, 0o755],
    ['a deleted file', { before: text('x\n'), after: null, executable: true }, 0o755, undefined],
    ['a deleted empty file', { before: text(''), after: null, executable: true }, 0o755, undefined],
  ])('carries the executable bit of %s', async (_what, versions, modeBefore, modeAfter) => {
    const path = join(dir, 'run.sh')
    if (versions.before !== null) await writeFile(path, versions.before)
    if (modeBefore !== undefined) await chmod(path, modeBefore)
    const patch = join(dir, '.git', 'one.patch')
    await writeFile(patch, unifiedDiff({ path: 'run.sh', ...versions }))
    expect((await run('git', ['-C', dir, 'apply', patch])).stderr).toBe('')
    expect(await contentOf(path)).toEqual(versions.after)
    const modeNow = await stat(path).catch(() => undefined)
    expect(modeNow && modeNow.mode & 0o100).toBe(modeAfter && modeAfter & 0o100)
  })

  it('makes one patch of many files', async () => {
    const files = Object.values(cases).map((file, index) => ({ ...file, path: `${index}/${file.path}` }))
    expect(await applied(files)).toEqual(files.map((file) => file.after))
  })

  it('replaces a file whole when its shortest diff would cost too much', async () => {
    const numbered = (prefix: string) => text(Array.from({ length: 6000 }, (_, n) => `${prefix}${n}\n`).join(''))
    const file = { path: 'big.py', before: numbered('a'), after: Buffer.concat([numbered('b'), text('end')]) }
    expect(await applied([file])).toEqual([file.after])
  })

  it('names blobs as git does, so a three-way apply finds its base', async () => {
    await writeFile(join(dir, 'a.py'), 'one\ntwo\n')
    const { stdout } = await run('git', ['-C', dir, 'hash-object', 'a.py'])
    const patch = Buffer.from(
      unifiedDiff({ path: 'a.py', before: text('one\ntwo\n'), after: text('one\n') }),
    ).toString()
    expect(patch).toContain(`index ${stdout.trim()}..`)
  })

  it('gives back any bytes, whatever they are', { timeout: 60_000 }, async () => {
    const part = fc.constantFrom(
      ...[
        'a',
        'é',
        '🙂',
        '\ufeff',
        '\n',
        '\n',
        '\r\n',
        '\r',
        '\0',
        '\u2028',
        '-- ',
        '@@ -1 +1 @@',
        'b',
        ' ',
        '-',
        '+ x',
        '\\',
        '\t',
      ].map(text),
      ...[[0xe9], [0xff, 0xfe], [0xf0, 0x9f], [0x80], [0xc3]].map((bytes) => Buffer.from(bytes)),
      Buffer.from('é\n', 'utf16le'),
    )
    const content = fc.array(part, { maxLength: 30 }).map((parts) => Buffer.concat(parts))
    const version = fc.option(content, { freq: 6 })
    const pairs = fc.array(fc.tuple(version, version), { minLength: 20, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(pairs, async (versions) => {
        const files = versions
          .map(([before, after], index) => ({ path: `f${index}.txt`, before, after }))
          .filter((file) => unifiedDiff(file).length > 0)
        fc.pre(files.length > 0)
        expect(await applied(files)).toEqual(files.map((file) => file.after))
      }),
      { numRuns: draws(20) },
    )
  })
})
