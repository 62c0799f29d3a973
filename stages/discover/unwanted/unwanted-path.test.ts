import { describe, expect, it } from 'vitest'
import type { SkipKind } from '#domain/run.ts'
import { readTreeRules } from './tree-rules.ts'
import { pathJudge } from './unwanted-path.ts'

/** Judges a tree of texts; returns the skipped paths with their reasons. */
async function skippedOf(tree: Readonly<Record<string, string>>, include: SkipKind[] = []) {
  const files = Object.keys(tree).map((path) => ({ path, hash: path, size: tree[path]?.length ?? 0 }))
  const rules = await readTreeRules(files, async (path) => Buffer.from(tree[path] ?? ''))
  const judge = pathJudge({ paths: Object.keys(tree), rules, include: new Set(include) })
  const found = Object.keys(tree).flatMap((path) => {
    const unwanted = judge.unwanted(path)
    return unwanted === undefined || unwanted.reason === 'hidden' ? [] : [`${unwanted.path}: ${unwanted.reason}`]
  })
  return [...new Set(found)].toSorted()
}

const empty = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, '']))

describe('pathJudge', () => {
  it.each(['vendor', '_vendored', 'third-party', 'ThirdParty', '3rdparty', 'Pods'])(
    'takes the folder %s for vendored, once, however deep it lies',
    async (name) => {
      expect(await skippedOf(empty(`src/a/${name}/x/y.py`, `src/a/${name}/z.py`, 'src/a/b.py'))).toEqual([
        `src/a/${name}: vendored`,
      ])
      expect(await skippedOf(empty(`src/a/${name}/x/y.py`), ['vendored'])).toEqual([])
    },
  )

  it('keeps names that only resemble them, and files that are called so', async () => {
    const own = [
      ...'vendors/a.py vending/a.py external/a.py packages/a.ts src/vendor.py lib/extern.c deps/a.c'.split(' '),
      ...'kube/pods/a.go'.split(' '),
    ]
    expect(await skippedOf(empty(...own))).toEqual([])
  })

  it('knows installers and scripts of build systems that are copied into projects', async () => {
    const copied = ['versioneer.py', 'ez_setup.py', 'gradlew', 'build/config.guess', 'web/jquery-3.1.1.js']
    expect(await skippedOf(empty(...copied))).toEqual(copied.map((path) => `${path}: vendored`).toSorted())
  })

  it('goes by linguist-vendored of every .gitattributes file, and opens a part of a vendored folder', async () => {
    const tree = {
      '.gitattributes':
        'copied/** linguist-vendored\nvendor/ours/** -linguist-vendored\nvendor/own.py linguist-vendored=false\n',
      ...empty('copied/a.py', 'vendor/b.py', 'vendor/ours/c.py', 'vendor/own.py', 'vendor/ours/node_modules/d.js'),
      'sub/.gitattributes': '*.js linguist-vendored\nmine.js !linguist-vendored\n',
      ...empty('sub/e.js', 'sub/mine.js', 'f.js'),
    }
    expect(await skippedOf(tree)).toEqual([
      'copied/a.py: vendored: .gitattributes says so',
      'sub/e.js: vendored: .gitattributes says so',
      'vendor/b.py: vendored',
    ])
    expect(await skippedOf(tree, ['vendored'])).toEqual([])
  })

  it('knows what compilers of interfaces write, and lock files, by name', async () => {
    const generated = [
      ...'a_pb2.py dist/a.min.js a_pb2_grpc.py a_pb2.pyi x.pb.go x.pb.cc Form.Designer.cs'.split(' '),
      ...'package-lock.json sub/uv.lock go.sum q/__generated__/a.ts'.split(' '),
    ]
    const found = await skippedOf(empty(...generated, 'pb2.py', 'lock.py', 'unlock.json', 'my.lock'))
    expect(found).toEqual(generated.map((path) => `${path.replace(/\/a\.ts$/, '')}: generated`).toSorted())
    expect(await skippedOf(empty(...generated), ['generated'])).toEqual([])
  })

  it('goes by linguist-generated, which also takes a name back', async () => {
    const tree = {
      '.gitattributes': 'api/*.py linguist-generated\nkeep_pb2.py -linguist-generated\n',
      ...empty('api/a.py', 'b.py', 'c_pb2.py'),
    }
    expect(await skippedOf(tree)).toEqual(['api/a.py: generated: .gitattributes says so', 'c_pb2.py: generated'])
  })

  it('knows the submodules that .gitmodules names, also below the folder of an archive', async () => {
    const text =
      '[submodule "one"]\n\tpath = libs/one\n\turl = ../one\n[submodule "two"]\n  path = "two words" \n  url = x\n[submodule "up"]\n\tpath = ../up\n'
    const tree = {
      'foo-1.0/.gitmodules': text,
      ...empty('foo-1.0/libs/one/a.py', 'foo-1.0/two words/b.py', 'foo-1.0/libs/c.py', 'up/d.py'),
    }
    expect(await skippedOf(tree)).toEqual(['foo-1.0/libs/one: submodule', 'foo-1.0/two words: submodule'])
    expect(await skippedOf(tree, ['submodules'])).toEqual([])
  })

  it.each([
    ...'app/migrations/0001_initial.py db/migrate/20190102030405_create_users.rb'.split(' '),
    ...'database/migrations/2014_10_12_000000_create_users.php'.split(' '),
    ...'Data/Migrations/20200101000000_Init.cs Data/Migrations/AppModelSnapshot.cs'.split(' '),
    ...'src/main/resources/db/migration/V1_2__add.sql'.split(' '),
    ...'prisma/migrations/20200101000000_init/migration.sql migrations/Version20200101000000.php'.split(' '),
  ])('takes %s for a migration', async (path) => {
    expect(await skippedOf(empty(path))).toEqual([`${path}: migration`])
    expect(await skippedOf(empty(path), ['migrations'])).toEqual([])
  })

  it('keeps what only lies near migrations', async () => {
    const own = [
      ...'app/migrations/__init__.py app/migrations/utils.py alembic/env.py'.split(' '),
      ...'tests/test_migrations/0001_a.py migrations/operations/base.py 0001_a.py'.split(' '),
    ]
    expect(await skippedOf(empty(...own))).toEqual([])
  })

  it('knows snapshots that tests compare with', async () => {
    const snapshots = [
      'web/__snapshots__',
      'tests/a.ambr',
      'src/snapshots/x__a.snap',
      'tests/snapshots/snap_test_a.py',
      'T.a.verified.txt',
    ]
    const files = ['web/__snapshots__/a.test.js.snap', 'web/__snapshots__/b.py', ...snapshots.slice(1)]
    const own = ['core/snapshots/store.py', 'core/snapshot.py', 'is.verified.ts']
    expect(await skippedOf(empty(...files, ...own))).toEqual(
      snapshots.map((path) => `${path}: snapshot of tests`).toSorted(),
    )
    expect(await skippedOf(empty(...files), ['snapshots'])).toEqual([])
  })

  it('honours .gitignore at every level of an archive, as git does', async () => {
    const tree = {
      'foo-1.0/.gitignore': '*.egg-info/\nbuild/\n_version.py\n!keep/_version.py\n/top.py\n',
      ...empty(
        ...'foo-1.0/foo.egg-info/a.py foo-1.0/src/build/b.py foo-1.0/src/_version.py'.split(' '),
        ...'foo-1.0/keep/_version.py foo-1.0/top.py foo-1.0/src/top.py'.split(' '),
      ),
      'foo-1.0/src/.gitignore': '*.gen.py\n!/one.gen.py\n',
      ...empty('foo-1.0/src/a.gen.py', 'foo-1.0/src/one.gen.py', 'foo-1.0/b.gen.py'),
    }
    expect(await skippedOf(tree)).toEqual([
      'foo-1.0/foo.egg-info: ignored by .gitignore',
      'foo-1.0/src/_version.py: ignored by .gitignore',
      'foo-1.0/src/a.gen.py: ignored by .gitignore',
      'foo-1.0/src/build: ignored by .gitignore',
      'foo-1.0/top.py: ignored by .gitignore',
    ])
    expect(await skippedOf(tree, ['ignored'])).toEqual([])
  })

  it('passes over what git keeps in another form or shows as binary, whatever is included', async () => {
    const tree = {
      '.gitattributes': '*.bin.py binary\n*.lfs.py filter=lfs diff=lfs\n*.l1.py working-tree-encoding=latin1\n',
      ...empty('a.bin.py', 'b.lfs.py', 'c.l1.py', 'd.py'),
    }
    expect(await skippedOf(tree, ['vendored', 'generated', 'ignored'])).toEqual([
      'a.bin.py: binary: .gitattributes says so',
      'b.lfs.py: changed by the filter lfs of .gitattributes',
      'c.l1.py: stored as latin1: .gitattributes says so',
    ])
  })
})
