import { type ConfigTree, iniList, iniNumber, stringOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { flake8PathTest, type PathTest } from './file-patterns.ts'
import { newerBuiltins } from './python-target.ts'

/** Holds a configuration of flake8 or pycodestyle, in Ruff's terms. */
export type Flake8Config = {
  /** Names the file and section to users: `setup.cfg [flake8]`. */
  source: string
  folder: string
  isFlake8: boolean
  value(key: string): string | undefined
  isExcluded: PathTest
  isIncluded: PathTest
  rules: Flake8Rules
  /** Lists those of `rules` that are off in one file: only the longest matching pattern of `per-file-ignores` counts. */
  offIn(path: string): readonly string[]
  /** Ruff's options except the selection of rules. */
  options: Table
  lint: Table
}

type Section = { source: string; isFlake8: boolean; value(key: string): string | undefined }

/** flake8 reads only the first of these files in a folder that has its section. */
const flake8Files = ['setup.cfg', 'tox.ini', '.flake8']
const pycodestyleFiles = ['setup.cfg', 'tox.ini']

/** Reads the configuration of flake8 in this folder, including the one in pyproject.toml that a plugin reads. */
export function flake8In(tree: ConfigTree, folder: string): Flake8Config | undefined {
  const section = iniSection(tree, folder, flake8Files, ['flake8']) ?? flake8Table(tree, folder)
  return section && configOf(section, folder)
}

/** Reads the configuration of pycodestyle (once called pep8) in this folder. */
export function pycodestyleIn(tree: ConfigTree, folder: string): Flake8Config | undefined {
  const section = iniSection(tree, folder, pycodestyleFiles, ['pycodestyle', 'pep8'])
  return section && configOf(section, folder)
}

function iniSection(tree: ConfigTree, folder: string, files: readonly string[], names: readonly string[]) {
  for (const path of files.map((file) => within(folder, file))) {
    for (const name of names) {
      const options = tree.ini(path)?.get(name)
      if (options === undefined) continue
      const value = (key: string) => options.get(key) ?? options.get(key.replaceAll('-', '_'))
      return { source: `${path} [${name}]`, isFlake8: name === 'flake8', value }
    }
  }
  return undefined
}

function flake8Table(tree: ConfigTree, folder: string): Section | undefined {
  const path = within(folder, 'pyproject.toml')
  const table = tableAt(tree.table(path), 'tool', 'flake8')
  if (table === undefined) return undefined
  const value = (key: string) => {
    const own = table[key] ?? table[key.replaceAll('-', '_')]
    const strings = stringsOf(own)
    if (strings.length > 0) return strings.join('\n')
    return typeof own === 'number' || typeof own === 'boolean' ? String(own) : stringOf(own)
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
  // mccabe reports nothing without a limit.
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

function rulesOff(all: Flake8Rules, own: Flake8Rules): string[] {
  const on = new Set(own.select)
  return [...all.select.filter((code) => !on.has(code)), ...own.ignore.filter((code) => !all.ignore.includes(code))]
}

const excludedNames = ['.svn', 'CVS', '.bzr', '.hg', '.git', '__pycache__', '.tox', '.nox', '.eggs', '*.egg']

/** Reads entries such as `a.py, b.py: E1,E2`, separated by lines or commas. */
function perFileIgnores(value: string | undefined): { pattern: string; codes: string[] }[] {
  const entries: { pattern: string; codes: string[] }[] = []
  let patterns: string[] = []
  let codes: string[] | undefined
  for (const [token] of (value ?? '').matchAll(/[^\s:,]+|:/g)) {
    if (token === ':') codes = []
    else if (codes === undefined) patterns.push(token)
    else if (/^[A-Z]+\d*$/.test(token)) codes.push(token)
    else {
      for (const pattern of patterns) entries.push({ pattern, codes })
      patterns = [token]
      codes = undefined
    }
  }
  return [...entries, ...patterns.map((pattern) => ({ pattern, codes: codes ?? [] }))]
}

function ruffOptions(value: Section['value'], maxComplexity: number | undefined) {
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

export function flake8Lacks({ source, rules, value }: Flake8Config): string[] {
  const isSet = (key: string) => /^\s*(?:1|true|yes|on)\s*$/i.test(value(key) ?? '')
  const codes = rules.missing.join(', ')
  return [
    ...(rules.missing.length > 0 ? [`${source}: not checked, because Ruff does not have them: ${codes}`] : []),
    ...(isSet('doctests') ? [`${source}: doctests are not checked`] : []),
    ...(isSet('disable-noqa') ? [`${source}: noqa comments count, though "disable-noqa" is set`] : []),
  ]
}

const ruffCodes = (
  'E101 E111 E112 E113 E114 E115 E116 E117 E201 E202 E203 E204 E211 E221 E222 E223 E224 E225 E226 E227 E228 E231 E241 ' +
  'E242 E251 E252 E261 E262 E265 E266 E271 E272 E273 E274 E275 E301 E302 E303 E304 E305 E306 E401 E402 E501 E502 E701 ' +
  'E702 E703 E711 E712 E713 E714 E721 E722 E731 E741 E742 E743 E902 W191 W291 W292 W293 W391 W505 W605 F401 F402 F403 ' +
  'F404 F405 F406 F407 F501 F502 F503 F504 F505 F506 F507 F508 F509 F521 F522 F523 F524 F525 F541 F601 F602 F621 F622 ' +
  'F631 F632 F633 F634 F701 F702 F704 F706 F707 F722 F811 F821 F822 F823 F841 F842 F901 C901'
).split(' ')

/** Lists codes that Ruff does not have: continued lines, breaks around operators, a `def` on one line, unused `global`. */
const missingCodes = 'E121 E122 E123 E124 E125 E126 E127 E128 E129 E131 E704 F824 W503 W504'.split(' ')

const defaultIgnored = ['E121', 'E123', 'E126', 'E226', 'E24', 'E704', 'W503', 'W504']

/**
 * Plugins of flake8 whose codes Ruff has with the same meaning. Left out are I, which two plugins of flake8 use and
 * neither sorts as Ruff does, and C8, U, R, M, Y, whose codes have another meaning in Ruff.
 */
const sharedPlugins =
  /^(?:A|ANN|ARG|ASYNC|B|BLE|C4|COM|D|DTZ|EM|ERA|EXE|FA|FBT|FIX|FLY|G|ICN|INP|INT|ISC|LOG|N|PD|PERF|PGH|PIE|PT|PTH|PYI|Q|RET|RSE|S|SIM|SLF|SLOT|T1|T10|T2|T20|TC|TCH|TD|TID|TRY|UP|YTT)\d*$/

/** Bugbear's opinionated rules: on only when selected by this prefix or a longer one, not by `B`. */
const bugbearOpinions = 'B9'

/** Most of pycodestyle's rules on white space are in preview in Ruff. */
export const isInPreview = (code: string) => /^(?:E1(?!01)|E2|E3|E502|W391)/.test(code)

export type Flake8Choice = {
  select: readonly string[] | undefined
  extendSelect: readonly string[]
  ignore: readonly string[] | undefined
  extendIgnore: readonly string[]
}

type Flake8Rules = {
  /** Holds what Ruff is to select: the codes that it has, and the selectors of plugins. */
  select: string[]
  ignore: string[]
  missing: string[]
}

/** Returns the rules that flake8 would have on: `own` unless `select` is given, and never those in `silent`. */
export function flake8Rules(choice: Flake8Choice, own: readonly string[], silent: readonly string[]): Flake8Rules {
  const decide = decision(choice, own)
  const isOn = (code: string) => decide(code) && !silent.some((prefix) => code.startsWith(prefix))
  const chosen = [...(choice.select ?? []), ...choice.extendSelect]
  const plugins = chosen.filter((code) => !/^(?:C|C9|C90|C901|[EFW]\d*)$/.test(code))
  const shared = plugins.filter((code) => sharedPlugins.test(code))
  const ignored = [...(choice.ignore ?? []), ...choice.extendIgnore].filter((code) => sharedPlugins.test(code))
  const hasOpinions = shared.some((code) => code.startsWith(bugbearOpinions))
  return {
    select: [...ruffCodes.filter(isOn), ...shared],
    ignore: [...ignored, ...(hasOpinions || !shared.includes('B') ? [] : [bugbearOpinions])],
    missing: [...missingCodes.filter(isOn), ...plugins.filter((code) => !sharedPlugins.test(code))],
  }
}

/**
 * flake8's decision for one code. An explicit choice beats a default; between two choices or two defaults the longer
 * prefix wins, and "off" wins over an equal "on".
 */
function decision(choice: Flake8Choice, own: readonly string[]): (code: string) => boolean {
  const chosen = [...(choice.select ?? []), ...choice.extendSelect]
  const selected = choice.select === undefined ? [...own, ...choice.extendSelect] : chosen
  const dropped = [...(choice.ignore ?? []), ...choice.extendIgnore]
  const ignored = choice.ignore === undefined ? [...defaultIgnored, ...choice.extendIgnore] : dropped
  const longest = (code: string, prefixes: readonly string[]) =>
    Math.max(-1, ...prefixes.filter((prefix) => code.startsWith(prefix)).map((prefix) => prefix.length))
  return (code) => {
    if (longest(code, selected) < 0) return false
    if (longest(code, ignored) < 0) return true
    const [isChosen, isDropped] = [longest(code, chosen) >= 0, longest(code, dropped) >= 0]
    if (isChosen !== isDropped) return isChosen
    return longest(code, selected) > longest(code, ignored)
  }
}
