import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { draws, fc } from '#testing/fast-check.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAttributeRules } from './attribute-rules.ts'

const names = ['linguist-vendored', 'linguist-generated', 'diff', 'filter', 'ident']
const paths = ['a.py', 'src/a.py', 'src/deep/b.py', 'src/deep/er/a.js', 'vendor/x/a.py', 'a b.py', 'src/a.min.js']

let top: string
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-attributes-'))
  execFileSync('git', ['init', '--quiet', top])
})
afterEach(() => rm(top, { recursive: true }))

type Written = Readonly<Record<string, string>>

/** What git says, attribute by attribute, in its own words. */
async function saidByGit(files: Written): Promise<string[]> {
  for (const [folder, text] of Object.entries(files)) {
    await mkdir(join(top, folder), { recursive: true })
    await writeFile(join(top, folder, '.gitattributes'), text)
  }
  const args = ['check-attr', '-z', '--stdin', ...names]
  const stdio = ['pipe', 'pipe', 'ignore'] as const
  const options = { cwd: top, input: paths.join('\0'), encoding: 'utf8' as const, stdio: [...stdio] }
  const fields = execFileSync('git', args, options).split('\0')
  return paths.flatMap((path, at) =>
    names.map((name, of) => `${path} ${name} ${fields[(at * names.length + of) * 3 + 2] ?? ''}`),
  )
}

function saidByUs(files: Written): string[] {
  const rules = readAttributeRules(Object.entries(files).map(([folder, text]) => ({ folder, text })))
  return paths.flatMap((path) => {
    const said = rules.attributesOf(path)
    return names.map((name) => `${path} ${name} ${inGitsWords(said.get(name))}`)
  })
}

function inGitsWords(value: string | boolean | undefined): string {
  if (value === undefined) return 'unspecified'
  if (typeof value === 'string') return value
  return value ? 'set' : 'unset'
}

const cases: Readonly<Record<string, Written>> = {
  "macros of one's own, of the top only": {
    '': '[attr]ours ident -diff filter=z\n*.py ours\n',
    src: '[attr]mine ident\na.py mine\n',
  },
  'quotes, comments and what is no rule': { '': '# *.py ident\n"a b.py" ident\n!a.py ident\n\n*.js\n' },
  'classes and escapes': { '': '[ab].py ident\n\\*.py -ident\n?.py diff=p\n' },
}

describe('readAttributeRules', () => {
  it.each(Object.entries(cases))('says what git says: %s', async (_, files) => {
    expect(saidByUs(files)).toEqual(await saidByGit(files))
  })

  it('says what git says, whatever the files say', { timeout: 60_000 }, async () => {
    const segment = fc.constantFrom('*', '**', 'src', 'deep', '*.py', 'a.*', '?.py', '[a-c].py', 'vendor', 'x', 'a.py')
    const lead = fc.constantFrom('', '', '', '/')
    const pattern = fc
      .tuple(lead, fc.array(segment, { minLength: 1, maxLength: 4 }))
      .map(([slash, all]) => slash + all.join('/'))
    const attribute = fc.constantFrom(
      ...'ident -ident !ident binary -diff filter=x -filter linguist-vendored'.split(' '),
    )
    const rule = fc.tuple(pattern, fc.array(attribute, { minLength: 1, maxLength: 3 }))
    const text = fc
      .array(rule, { maxLength: 5 })
      .map((all) => all.map(([glob, said]) => `${glob} ${said.join(' ')}\n`).join(''))
    const files = fc.record({ '': text, src: text, 'src/deep': text })
    const run = fc.asyncProperty(files, async (written) => {
      expect(saidByUs(written)).toEqual(await saidByGit(written))
    })
    await fc.assert(run, { numRuns: draws(150) })
  })

  it('reads what Linguist reads as no', () => {
    const rules = readAttributeRules([
      { folder: '', text: '*.py linguist-vendored=false\n*.js linguist-vendored=true\n' },
    ])
    expect(rules.attributesOf('vendor/a.py').get('linguist-vendored')).toBe(false)
    expect(rules.attributesOf('own/a.js').get('linguist-vendored')).toBe(true)
  })
})
