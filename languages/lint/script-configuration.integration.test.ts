import { afterAll, describe, expect, it } from 'vitest'
import { isLintConfig, readRepositoryLint } from './repository-lint.ts'
import { openTestLinter } from './test-linter.fixture.ts'

const linter = await openTestLinter()
afterAll(() => linter.close())

async function read(files: Record<string, string>) {
  const paths = Object.keys(files)
  const configs = paths.filter(isLintConfig).map((path) => ({ path, text: files[path] ?? '' }))
  const scripts = paths.filter((path) => /\.[jt]sx?$/.test(path) && !isLintConfig(path))
  const rules = await readRepositoryLint({ paths, files: configs, scripts }, linter)
  const codes = async (path: string) => {
    const { diagnostics } = await linter.lint(files[path] ?? '', rules.rulesFor(path).lint)
    return diagnostics.map(({ code }) => code).toSorted()
  }
  return { ...rules, codes }
}

const faulty = 'let a = 1\nvar b = a == 1\nexport { b }\ndebugger\n'
const json = (value: unknown) => JSON.stringify(value)

describe('the rules of JavaScript', () => {
  it("are oxlint's own default where nothing is configured, and that is said", async () => {
    const repository = await read({ 'a.js': faulty })
    expect(await repository.codes('a.js')).toEqual(['no-debugger'])
    expect(repository.notices).toEqual([expect.stringContaining("oxlint's default")])
  })

  it("are those of ESLint's configuration, with comments, severities and what it extends", async () => {
    const repository = await read({
      '.eslintrc.json':
        '{ // ours\n"root": true, "extends": ["./base.json"], "rules": { "prefer-const": "warn", "no-debugger": 0, }, }',
      'base.json': json({ rules: { 'no-var': 2 } }),
      '.eslintrc': 'rules: { eqeqeq: 2 }',
      'a.js': faulty,
    })
    expect(await repository.codes('a.js')).toEqual(['prefer-const'])
    expect(repository.notices).toEqual([expect.stringContaining('"./base.json"')])
  })

  it('are also in YAML and package.json, from all folders up to the root, with options kept', async () => {
    const repository = await read({
      'package.json': json({ eslintConfig: { root: true, rules: { eqeqeq: ['error', 'smart'], 'no-var': 'error' } } }),
      'src/.eslintrc.yml': 'rules:\n  eqeqeq: warn\n  no-var: off\n',
      'src/a.js': 'export const f = (x) => x == null\nvar y = f(1) == 2\nf(y)\n',
      'b.js': 'var y = 1\nexport { y }\n',
    })
    expect(await repository.codes('src/a.js')).toEqual(['eqeqeq'])
    expect(await repository.codes('b.js')).toEqual(['no-var'])
  })

  it('differ by overrides and leave out what is ignored', async () => {
    const rules = { 'no-debugger': 'error', '@typescript-eslint/no-explicit-any': 'error' }
    const overrides = [{ files: '*.test.js', excludedFiles: 'keep.test.js', rules: { 'no-debugger': 'off' } }]
    const repository = await read({
      '.eslintrc.json': json({ rules, overrides, ignorePatterns: ['lib/'] }),
      '.eslintignore': 'old\n',
      'a.test.js': 'debugger\n',
      'keep.test.js': 'debugger\n',
      'lib/a.js': 'debugger\n',
      'old/a.js': 'debugger\n',
      'a.ts': 'export const a: any = 1\n',
    })
    expect(await repository.codes('a.test.js')).toEqual([])
    expect(await repository.codes('keep.test.js')).toEqual(['no-debugger'])
    expect(await repository.codes('a.ts')).toEqual(['typescript/no-explicit-any'])
    for (const path of ['lib/a.js', 'old/a.js']) expect(repository.rulesFor(path).lint.isExcluded).toBe(true)
  })

  it('leave out, and name, what cannot be honoured: packages, options, programs, broken files', async () => {
    const repository = await read({
      '.eslintrc.json': json({
        extends: ['airbnb', 'eslint:recommended'],
        rules: { eqeqeq: ['error', 'allow-null'], 'no-such': 2 },
      }),
      'a.js': faulty,
      'flat/eslint.config.js': 'export default []',
      'flat/a.js': faulty,
      'broken/.eslintrc.json': '{ "rules": ',
      'broken/a.js': 'debugger\n',
    })
    expect(await repository.codes('a.js')).toEqual(['no-debugger'])
    expect(await repository.codes('flat/a.js')).toEqual(['no-debugger'])
    expect(await repository.codes('broken/a.js'), 'the one above counts').toEqual(['no-debugger'])
    const all = repository.notices.join('\n')
    for (const words of [
      '"airbnb"',
      'eqeqeq is left out',
      'eslint.config.js is a program',
      'broken/.eslintrc.json cannot be read',
    ])
      expect(all).toContain(words)
  })

  it("are those of oxlint's configuration before others, without its programs", async () => {
    const repository = await read({
      '.oxlintrc.json': json({
        jsPlugins: ['./evil.js'],
        categories: { correctness: 'off' },
        rules: { 'no-var': 'error' },
        overrides: [{ files: ['cli/**'], rules: { 'no-debugger': 'error' } }],
        ignorePatterns: ['dist'],
      }),
      '.eslintrc.json': json({ rules: { eqeqeq: 'error' } }),
      'a.js': faulty,
      'cli/a.js': faulty,
      'dist/a.js': faulty,
    })
    expect(await repository.codes('a.js')).toEqual(['no-var'])
    expect(await repository.codes('cli/a.js')).toEqual(['no-debugger', 'no-var'])
    expect(repository.rulesFor('dist/a.js').lint.isExcluded).toBe(true)
    expect(repository.notices).toEqual([expect.stringContaining('jsPlugins')])
  })

  it("are Biome's as far as oxlint has them", async () => {
    const repository = await read({
      'biome.json': json({
        files: { includes: ['**', '!gen'] },
        linter: {
          rules: {
            recommended: false,
            suspicious: { noDoubleEquals: 'error' },
            style: { useConst: { level: 'warn' } },
          },
        },
        overrides: [{ includes: ['**/*.test.js'], linter: { rules: { style: { useConst: 'off' } } } }],
      }),
      'a.js': faulty,
      'a.test.js': faulty,
      'gen/a.js': faulty,
      'all/biome.json': json({ linter: { rules: { suspicious: { noDebugger: 'off' } } } }),
      'all/a.js': faulty,
      'off/biome.json': json({ linter: { enabled: false } }),
      'off/a.js': faulty,
    })
    expect(await repository.codes('a.js')).toEqual(['eqeqeq', 'prefer-const'])
    expect(await repository.codes('a.test.js')).toEqual(['eqeqeq'])
    expect(await repository.codes('all/a.js')).toEqual(['eqeqeq', 'prefer-const'])
    expect(repository.notices, 'oxlint accepts all of them').toHaveLength(3)
    for (const path of ['gen/a.js', 'off/a.js']) expect(repository.rulesFor(path).lint.isExcluded).toBe(true)
  })

  it('know the width of a line from Prettier or Biome', async () => {
    const repository = await read({
      'a.js': '',
      'p/.prettierrc': 'printWidth: 100\n',
      'p/a.js': '',
      'q/package.json': '{"prettier":{}}',
      'q/a.js': '',
    })
    expect(['a.js', 'p/a.js', 'q/a.js'].map((path) => repository.rulesFor(path).style.lineLength)).toEqual([
      120, 100, 80,
    ])
  })
})

describe.each(['.eslintrc.json', '.oxlintrc.json'])('what %s extends', (name) => {
  it('is read once where it leads back to itself, and that is said', async () => {
    const repository = await read({
      [name]: json({ extends: Array.from({ length: 5 }, () => `./${name}`), rules: { 'no-var': 'error' } }),
      'a.js': 'var b = 1\nexport { b }\n',
    })
    expect(await repository.codes('a.js')).toEqual(['no-var'])
    expect(repository.notices).toEqual([`${name}: "extends" leads back to ${name}, which is not read again`])
  })

  it('ends although it branches on every level, and its own rules count all the same', async () => {
    const eightOf = (level: number) => Array.from({ length: 8 }, () => `./${level}/${name}`)
    const levels = Array.from({ length: 9 }, (_, at) => {
      return [`${at}/${name}`, json({ extends: at === 8 ? [] : eightOf(at + 1).map((path) => `.${path}`) })]
    })
    const repository = await read({
      ...Object.fromEntries(levels),
      [name]: json({ extends: eightOf(0), rules: { 'no-var': 'error' } }),
      'a.js': 'var b = 1\nexport { b }\n',
    })
    expect(await repository.codes('a.js')).toEqual(['no-var'])
    expect(repository.notices).toEqual([expect.stringContaining(`${name} has more than 200 parts`)])
  })
})
