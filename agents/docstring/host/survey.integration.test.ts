import { afterAll, describe, expect, it } from 'vitest'
import { openSurveyPool } from '#stages/plan/survey/survey-pool.ts'
import { surveyDocComments } from './survey.ts'

const surveys = openSurveyPool({ threads: 1 })
afterAll(() => surveys.close())

const languages: Record<string, string> = { ts: 'typescript', js: 'javascript', go: 'go', rs: 'rust' }

/** `«` and `»` are the ends of the nodes; other files are read for what they configure. */
async function surveyOf(marked: Record<string, string>) {
  const texts = new Map<string, string>()
  const nodes: { path: string; language: string; startByte: number; endByte: number }[] = []
  for (const [path, text] of Object.entries(marked)) {
    const ranges = [...text.matchAll(/«([^»]*)»/g)].map(({ index, 1: inner = '' }) => {
      const startByte = Buffer.byteLength(text.slice(0, index).replaceAll(/[«»]/g, ''))
      return { startByte, endByte: startByte + Buffer.byteLength(inner) }
    })
    texts.set(path, text.replaceAll(/[«»]/g, ''))
    const language = languages[path.replace(/^.*\./, '')]
    if (language !== undefined) nodes.push(...ranges.map((range) => ({ path, language, ...range })))
  }
  const files = [...texts].map(([path, text]) => ({
    path,
    hash: path,
    size: Buffer.byteLength(text),
    executable: false,
  }))
  const read = async (path: string) => Buffer.from(texts.get(path) ?? '', path.includes('latin') ? 'latin1' : 'utf8')
  const signal = AbortSignal.timeout(60_000)
  const survey = await surveyDocComments(nodes, { files: async () => files, read, surveys, signal })
  return {
    styleOf: (path: string) => survey.styles.get(path),
    reasons: (path: string, scope: 'public' | 'private' | 'all' = 'public') =>
      nodes.flatMap((one) => (one.path === path ? [survey.reasonToSkip(path, one.startByte, scope)] : [])),
  }
}

describe('a survey of doc comments', () => {
  it('finds what gets one, by its bytes, in the scope that is asked for', async () => {
    const { reasons } = await surveyOf({
      'src/a.ts': `const e = 'é😀'
/** Has one. */
«export function a() {}»
export class B {
  «run() {}»

  «private hide() {}»
}
«function c() {}»
`,
      'src/a.test.ts': '«export function t() {}»\n',
    })
    const isPrivate = 'is private (scope: private includes it)'
    expect(reasons('src/a.ts')).toEqual(['has a docstring', undefined, isPrivate, isPrivate])
    expect(reasons('src/a.test.ts', 'private')).toEqual(['is in a test (scope: all includes it)'])
    expect(reasons('src/a.test.ts', 'all')).toEqual([undefined])
  })

  it('leaves out what declaration files describe, what TypeScript reads, and what cannot be read', async () => {
    const { reasons } = await surveyOf({
      'a.d.ts': '«export function a(): void»\n',
      'b.js': '«export function b() {}»\n',
      'b.d.ts': 'export function b(): void\n',
      'latin.js': '«export function é() {}»\n',
      'c/d.ts': `«export const x = () => ${'('.repeat(30_000)}»`,
    })
    expect(reasons('a.d.ts')).toEqual(['needs no docstring: it is in a declaration file'])
    expect(reasons('b.js')).toEqual(['needs no docstring: a declaration file beside it describes it'])
    expect(reasons('latin.js')).toEqual(['its file is not UTF-8'])
    expect(reasons('c/d.ts')[0]).toMatch(/./)
    const checked = await surveyOf({
      'jsconfig.json': '{ "compilerOptions": { "checkJs": true } }',
      'a.js': '«export function a() {}»\n',
    })
    expect(checked.reasons('a.js')).toEqual(['is left alone: TypeScript takes types from its comments (checkJs)'])
  })

  it('reads how long lines may be, and how comments are written', async () => {
    const typed = '/**\n * One.\n */\nfunction a() {}\n/**\n * @param {string} x one\n */\nfunction b(x) {}\n'
    const { styleOf } = await surveyOf({
      '.editorconfig': '[*.go]\nmax_line_length = 70\n',
      'package.json': '{ "prettier": { "printWidth": 120 } }',
      'web/.prettierrc': 'semi: false\n',
      'rustfmt.toml': 'max_width = 90\n',
      'a.js': `${typed}«export function c() {}»\n`,
      'web/b.ts': '«export function c() {}»\n',
      'c.go': 'package a\n«func C() {}»\n',
      'd.rs': '«pub fn d() {}»\n',
    })
    const untyped = { docstringTypes: false, docstringDash: true, docstringSummary: 'first_line' }
    expect(styleOf('a.js')).toMatchObject({
      lineLength: 120,
      docstringTypes: true,
      docstringDash: false,
      docstringSummary: 'second_line',
    })
    expect(styleOf('web/b.ts')).toMatchObject({ lineLength: 80, ...untyped })
    expect(styleOf('c.go')).toMatchObject({ lineLength: 70 })
    expect(styleOf('d.rs')).toMatchObject({ lineLength: 90 })
  })
})
