import { type ConfigTree, stringOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { flake8PathTest, type PathTest } from './file-patterns.ts'
import { type Flake8Choice, flake8Rules, type Flake8Rules } from './flake8-rules.ts'
import { iniList, iniNumber } from './ini-file.ts'
import { newerBuiltins } from './python-target.ts'

/** What flake8 or pycodestyle says, in Ruff's terms. */
export type Flake8Config = {
  /** As people name it: `setup.cfg [flake8]`. */
  source: string
  folder: string
  isFlake8: boolean
  value(key: string): string | undefined
  isExcluded: PathTest
  isIncluded: PathTest
  rules: Flake8Rules
  /** Of `rules`, what is off in one file: only the longest pattern of `per-file-ignores` that fits it counts. */
  offIn(path: string): readonly string[]
  /** For Ruff, without the rules. */
  options: Table
  lint: Table
}

type Section = { source: string; isFlake8: boolean; value(key: string): string | undefined }

/** flake8 reads the first of these in a folder that has its section, and only that one. */
const flake8Files = ['setup.cfg', 'tox.ini', '.flake8']
const pycodestyleFiles = ['setup.cfg', 'tox.ini']

/** The configuration of flake8 in this folder, also where a plugin reads it from pyproject.toml. */
export function flake8In(tree: ConfigTree, folder: string): Flake8Config | undefined {
  const section = iniSection(tree, folder, flake8Files, ['flake8'], true) ?? flake8Table(tree, folder)
  return section && configOf(section, folder)
}

/** The configuration of pycodestyle (once called pep8) in this folder. */
export function pycodestyleIn(tree: ConfigTree, folder: string): Flake8Config | undefined {
  const section = iniSection(tree, folder, pycodestyleFiles, ['pycodestyle', 'pep8'], false)
  return section && configOf(section, folder)
}

function iniSection(
  tree: ConfigTree,
  folder: string,
  files: readonly string[],
  names: readonly string[],
  isFlake8: boolean,
): Section | undefined {
  for (const path of files.map((file) => within(folder, file))) {
    for (const name of names) {
      const options = tree.ini(path)?.get(name)
      if (options === undefined) continue
      const value = (key: string) => options.get(key) ?? options.get(key.replaceAll('-', '_'))
      return { source: `${path} [${name}]`, isFlake8, value }
    }
  }
  return undefined
}

function flake8Table(tree: ConfigTree, folder: string): Section | undefined {
  const path = within(folder, 'pyproject.toml')
  const table = tableAt(tree.table(path), 'tool', 'flake8')
  if (table === undefined) return undefined
  const value = (key: string) => {
    const found = table[key] ?? table[key.replaceAll('-', '_')]
    const strings = stringsOf(found)
    if (strings.length > 0) return strings.join('\n')
    return typeof found === 'number' || typeof found === 'boolean' ? String(found) : stringOf(found)
  }
  return { source: `${path} [tool.flake8]`, isFlake8: true, value }
}

function configOf({ source, isFlake8, value }: Section, folder: string): Flake8Config {
  const list = (key: string) => (value(key) === undefined ? undefined : iniList(value(key)))
  const choice: Flake8Choice = {
    select: list('select'),
    extendSelect: [...iniList(value('extend-select')), ...iniList(value('enable-extensions'))],
    ignore: list('ignore'),
    extendIgnore: iniList(value('extend-ignore')),
  }
  const maxComplexity = iniNumber(value('max-complexity'))
  const own = isFlake8 ? ['E', 'F', 'W', 'C90'] : ['E', 'W']
  // mccabe is silent until it is given a limit.
  const always = maxComplexity === undefined ? ['C90'] : []
  const rulesWith = (ignored: readonly string[]) =>
    flake8Rules({ ...choice, extendIgnore: [...choice.extendIgnore, ...ignored] }, own, always)
  const rules = rulesWith([])
  const perFile = perFileIgnores(value('per-file-ignores'))
    .toSorted((a, b) => b.pattern.length - a.pattern.length)
    .map(({ pattern, codes }) => ({
      isMeant: flake8PathTest(pattern, folder),
      off: rulesOff(rules, rulesWith(codes)),
    }))
  const any = (patterns: readonly string[]): PathTest => {
    const tests = patterns.map((pattern) => flake8PathTest(pattern.replace(/(?<=.)\/+$/, ''), folder))
    return (path) => tests.some((test) => test(path))
  }
  return {
    source,
    folder,
    isFlake8,
    value,
    isExcluded: any([...(list('exclude') ?? excludedNames), ...iniList(value('extend-exclude'))]),
    isIncluded: any(list('filename') ?? ['*.py']),
    rules,
    offIn: (path) => perFile.find(({ isMeant }) => isMeant(path))?.off ?? [],
    ...ruffOptions(value, maxComplexity),
  }
}

/** What is on in all files and off in one. */
function rulesOff(all: Flake8Rules, own: Flake8Rules): string[] {
  const on = new Set(own.select)
  return [...all.select.filter((code) => !on.has(code)), ...own.ignore.filter((code) => !all.ignore.includes(code))]
}

const excludedNames = ['.svn', 'CVS', '.bzr', '.hg', '.git', '__pycache__', '.tox', '.nox', '.eggs', '*.egg']

/** `a.py, b.py: E1,E2` and more of it, lines and commas both separating. */
function perFileIgnores(value: string | undefined): { pattern: string; codes: string[] }[] {
  const found: { pattern: string; codes: string[] }[] = []
  let patterns: string[] = []
  let codes: string[] | undefined
  for (const [token] of (value ?? '').matchAll(/[^\s:,]+|:/g)) {
    if (token === ':') codes = []
    else if (codes === undefined) patterns.push(token)
    else if (/^[A-Z]+\d*$/.test(token)) codes.push(token)
    else {
      for (const pattern of patterns) found.push({ pattern, codes })
      patterns = [token]
      codes = undefined
    }
  }
  return [...found, ...patterns.map((pattern) => ({ pattern, codes: codes ?? [] }))]
}

type RuffOptions = Pick<Flake8Config, 'options' | 'lint'>

/** Limits and the options of plugins, under Ruff's names. */
function ruffOptions(value: Section['value'], maxComplexity: number | undefined): RuffOptions {
  const maxLine = iniNumber(value('max-line-length')) ?? 79
  const maxDoc = iniNumber(value('max-doc-length'))
  const indent = iniNumber(value('indent-size'))
  const convention = value('docstring-convention')?.trim()
  const quotes = Object.fromEntries(
    ['inline-quotes', 'multiline-quotes', 'docstring-quotes'].flatMap((key) => {
      const style = quoteStyle(value(key))
      return style === undefined ? [] : [[key, style]]
    }),
  )
  return {
    options: {
      builtins: [...newerBuiltins, ...iniList(value('builtins'))],
      'line-length': Math.min(Math.max(maxLine, 1), 320),
      ...(indent !== undefined && indent > 0 && { 'indent-width': indent }),
    },
    lint: {
      ...(maxDoc !== undefined && { pycodestyle: { 'max-doc-length': maxDoc } }),
      ...(maxComplexity !== undefined && { mccabe: { 'max-complexity': maxComplexity } }),
      ...(convention !== undefined &&
        ['google', 'numpy', 'pep257'].includes(convention) && { pydocstyle: { convention } }),
      ...(Object.keys(quotes).length > 0 && { 'flake8-quotes': quotes }),
    },
  }
}

function quoteStyle(value: string | undefined): 'single' | 'double' | undefined {
  const style = value?.trim()
  if (style === "'" || style === "'''" || style === 'single') return 'single'
  return style === '"' || style === '"""' || style === 'double' ? 'double' : undefined
}

/** What flake8 was asked for and Ruff cannot do. */
export function flake8Lacks({ source, rules, value }: Flake8Config): string[] {
  const isSet = (key: string) => /^\s*(?:1|true|yes|on)\s*$/i.test(value(key) ?? '')
  const codes = rules.missing.join(', ')
  return [
    ...(rules.missing.length > 0 ? [`${source}: not checked, because Ruff does not have them: ${codes}`] : []),
    ...(isSet('doctests') ? [`${source}: doctests are not checked`] : []),
    ...(isSet('disable-noqa') ? [`${source}: noqa comments count, though "disable-noqa" is set`] : []),
  ]
}
