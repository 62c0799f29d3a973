import { execFileSync } from 'node:child_process'
import { cp, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { runCommand } from './served-api.fixture.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const gitless = lacks('git')

let top: string

useFreshFolder((path) => (top = path))
beforeEach(async () => {
  await write('src', {
    'money.py': 'class Price:\n    def total(self):\n        return 1\n\n    def tax(self):\n        return 2\n',
    'old.py': 'def helps():\n    return "help"\n',
    'tools.py': 'def first():\n    return [first]\n\ndef gone():\n    pass\n',
    'big.py': 'def big(): pass\n',
  })
})

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, folder, path)), { recursive: true })
    await writeFile(join(top, folder, path), text)
  }
}

async function discover(...args: string[]): Promise<string> {
  const given = { cwd: top, env: { XDG_CACHE_HOME: join(top, 'cache') } }
  return (await runCommand(['discover', join(top, 'src'), '--workers', '1', ...args], given)).out
}

/** What a day's work may do to the files of `src`. */
async function edit(): Promise<void> {
  await rename(join(top, 'src/old.py'), join(top, 'src/young.py'))
  await write('src', {
    'money.py':
      'class Price:\n    def total(self):\n        return 3\n\n    def tax(self):\n        return 2\n\n    def vat(self): ...\n',
    'tools.py': 'import x\n\ndef primary():\n    return [primary]\n',
    '.gitignore': 'big.py\n',
  })
}

const afterEdit = `money.py  changed
  changed  1-8         class      Price
  changed  2-3         method     Price.total
  added    8-8         method     Price.vat
tools.py  changed
  moved    3-4         function   primary from first
  removed  4-5         function   gone
young.py  moved from old.py with 1 node
`

const passedOver = 'Not compared, because skipped on one side: big.py\n'

const Places = z.array(z.object({ path: z.string(), qualified_name: z.string() }))
const Compared = z.object({
  nodes: Places,
  files: z.int(),
  added: Places,
  removed: Places,
  changed: Places,
  moved: z.array(z.strictObject({ from: Places.element, to: Places.element })),
  unchanged: z.int(),
  not_compared: z.array(z.string()),
})

describe('remora discover --since', () => {
  it('tells a person what became of the nodes of a folder, but not of files that are ignored now', async () => {
    await cp(join(top, 'src'), join(top, 'before'), { recursive: true })
    await edit()
    const out = await discover('--since', join(top, 'before'))
    expect(out).toBe(
      `${afterEdit}\nSince ${join(top, 'before')}: 1 added, 1 removed, 4 changed, 3 moved, 1 unchanged\n${passedOver}`,
    )
  })

  it.skipIf(gitless)('tells the same of a git revision, read without a checkout', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e', ...args], { cwd: top, stdio: 'pipe' })
    git('init')
    git('add', '--all')
    git('commit', '--message', 'before')
    await edit()
    expect(await discover('--since', 'HEAD')).toContain(afterEdit)
  })

  it('adds the comparison to the document of --json, which can be compared with in turn', async () => {
    await writeFile(join(top, 'before.json'), await discover('--json'))
    await edit()
    const text = await discover('--since', join(top, 'before.json'), '--json')
    const document = Compared.parse(JSON.parse(text))
    expect(document.added).toEqual([expect.objectContaining({ path: 'money.py', qualified_name: 'Price.vat' })])
    expect(document.removed).toEqual([expect.objectContaining({ path: 'tools.py', qualified_name: 'gone' })])
    expect(document.changed.map((node) => node.qualified_name)).toEqual([
      'money.py',
      'Price',
      'Price.total',
      'tools.py',
    ])
    expect(document.moved.map(({ from, to }) => `${from.qualified_name} ${to.qualified_name}`)).toEqual([
      'old.py young.py',
      'helps helps',
      'first primary',
    ])
    expect(document.not_compared).toEqual(['big.py'])
    expect(document.added.length + document.changed.length + document.moved.length + document.unchanged).toBe(
      document.nodes.length,
    )
    await writeFile(join(top, 'after.json'), text)
    expect(await discover('--since', join(top, 'after.json'))).toMatch(/^Since .*: 0 added, .* 0 moved, 9 unchanged\n$/)
  })

  it('compares what is asked for alone', async () => {
    await writeFile(join(top, 'before.json'), await discover('--json'))
    await edit()
    const out = await discover('--since', join(top, 'before.json'), '--kinds', 'method')
    expect(out).toMatch(/^money\.py\n {2}changed .*Price\.total\n {2}added .*Price\.vat\n\nSince .* 1 unchanged\n$/)
  })

  it.each([
    ['text', 'no json\n'],
    ['another document', '{"nodes": 3}'],
    ['a node of another shape', '{"nodes": [{"node_id": "x"}], "skipped": []}'],
  ])('refuses a file of %s', async (_what, text) => {
    await writeFile(join(top, 'other.json'), text)
    await expect(discover('--since', join(top, 'other.json'))).rejects.toMatchObject({
      code: 'DISC_005',
      message: expect.stringContaining('is no output of "remora discover --json"'),
    })
  })

  it.skipIf(gitless)('refuses what is neither folder, file nor revision, and takes no option for one', async () => {
    await expect(discover('--since', 'nothing')).rejects.toMatchObject({ code: 'DISC_005' })
    await expect(discover('--since=--upload-pack=x')).rejects.toMatchObject({ code: 'DISC_005' })
  })
})
