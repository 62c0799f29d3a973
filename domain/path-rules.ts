import { z } from 'zod'

/** Endings of JavaScript and TypeScript, by which oxlint knows which syntax a text has. */
const scriptSuffixes = ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'] as const
export const ScriptSuffix = z.enum(scriptSuffixes)
export type ScriptSuffix = z.infer<typeof ScriptSuffix>

/** Returns undefined for a path that is neither JavaScript nor TypeScript. */
export function scriptSuffixOf(path: string): ScriptSuffix | undefined {
  return scriptSuffixes.find((suffix) => path.endsWith(suffix))
}

const goSuffix = '.go'

export function isGo(path: string): boolean {
  return path.endsWith(goSuffix)
}

export const LintRules = z.strictObject({
  /** The configuration that they come from: `pyproject.toml [tool.ruff]`, `tox.ini [flake8]`, `default`. */
  source: z.string(),
  /** Options of oxlint, or of Ruff without a tree, as in its configuration file; validated when the rules were read. */
  options: z.record(z.string(), z.unknown()),
  /** Is set for a file that oxlint checks, or gofmt (`.go`); without it Ruff does. */
  suffix: z.enum([...scriptSuffixes, goSuffix]).optional(),
  /** The key of the tree of configuration in which Ruff lints the file; without it, `options` are all that Ruff has. */
  tree: z.string().optional(),
  /** The file's path in the tree; absent where rules of several files are stored as one. */
  path: z.string().optional(),
  /** Rule selectors (`E`, `F401`) that are off in this file by flake8's per-file ignores, which Ruff cannot express. */
  ignored: z.array(z.string()),
  /** The repository's linter skips this file: nothing is reported or fixed in it. */
  isExcluded: z.boolean(),
})
export type LintRules = z.infer<typeof LintRules>

export const RuffTree = z.strictObject({
  files: z.record(z.string(), z.string()),
  /** Those of a second pass in preview mode, for flake8's rules that Ruff has only there. The first pass stays stable. */
  preview: z.record(z.string(), z.string()).optional(),
  /** Paths of Python files: Ruff looks at which there are, and not into them. */
  modules: z.array(z.string()),
})
export type RuffTree = z.infer<typeof RuffTree>

const docstringStyles = ['google', 'numpy', 'sphinx', 'plain'] as const
export const DocstringStyle = z.enum(docstringStyles)
export type DocstringStyle = z.infer<typeof DocstringStyle>

export const TextStyle = z.strictObject({
  /** The line length of the linter, else of the formatter, else of `.editorconfig`. */
  lineLength: z.int().min(1),
  /** The line length of docstrings, where the linter has its own limit for them (W505, `max-doc-length`). */
  docLength: z.int().min(1).optional(),
  docstringQuotes: z.enum(['"""', "'''"]),
  /** One level of indentation; undefined: the file's own. */
  indent: z.string().optional(),
  /** The docstring convention that the configuration names, or else that most docstrings of the package follow. */
  docstringStyle: DocstringStyle,
  /** Says where the text of a multi-line docstring begins: after the quotes (the default), or on the next line. */
  docstringSummary: z.enum(['first_line', 'second_line']).optional(),
  /** Is true when a blank line follows the docstring of a class, as by default. */
  gapAfterClassDocstring: z.boolean().optional(),
  /** Is true when sections name the types of parameters, as by default in Python and not in JSDoc. */
  docstringTypes: z.boolean().optional(),
  /** Is true when a dash stands between a parameter and its description in JSDoc, as by default. */
  docstringDash: z.boolean().optional(),
  /** Names the field of Sphinx that describes the return value; absent, either one may. */
  docstringReturnField: z.enum(['return', 'returns']).optional(),
})
export type TextStyle = z.infer<typeof TextStyle>

export const PathRules = z.strictObject({
  lint: LintRules,
  text: TextStyle,
  /** Names that other files use, and unused imports that users of a public module may import. `all`: every name may be. Empty: the module itself. */
  keptNames: z.union([z.literal('all'), z.array(z.string())]),
  /** The top-level names of the repository's own modules; when unknown, the folders of the path are used. */
  ownModules: z.array(z.string()).optional(),
})
export type PathRules = z.infer<typeof PathRules>

/** A repository without a configuration is held to Pyflakes, to what Python itself calls an error (E9, W605), and to `not x in y` (E713, E714). */
export const defaultLintRules: LintRules = {
  source: 'default',
  options: { lint: { select: ['F', 'E713', 'E714', 'E9', 'W605'] } },
  ignored: [],
  isExcluded: false,
}

/** 88 is the limit of Black and of Ruff; docstrings in double quotes are PEP 257's. */
export const defaultTextStyle: TextStyle = { lineLength: 88, docstringQuotes: '"""', docstringStyle: 'google' }

export const defaultPathRules: PathRules = { lint: defaultLintRules, text: defaultTextStyle, keptNames: [] }

/** oxlint's own default: what it counts as certainly wrong (its category `correctness`). */
export function defaultScriptRules(suffix: ScriptSuffix): LintRules {
  const options = { categories: { correctness: 'error' } }
  return { source: 'default', options, suffix, ignored: [], isExcluded: false }
}

/** Go has one format, which no repository configures. */
export const goLintRules: LintRules = {
  source: 'gofmt',
  options: {},
  suffix: goSuffix,
  ignored: [],
  isExcluded: false,
}

export function isGoRules({ suffix }: Pick<LintRules, 'suffix'>): boolean {
  return suffix === goSuffix
}

export function defaultRulesOf(path: string): PathRules {
  const suffix = scriptSuffixOf(path)
  return suffix === undefined ? defaultPathRules : { ...defaultPathRules, lint: defaultScriptRules(suffix) }
}

/** Is true when `code` (`F401`) falls under one of `selectors` (`F401`, `F4`, `F`, `ALL`), as Ruff and flake8 read them. */
export function isSelected(code: string, selectors: readonly string[]): boolean {
  return selectors.some((selector) => isUnder(code, selector))
}

/** `E` covers E501 but not ERA001: letters must match as a whole. Only `PL` covers several groups. `TCH` is the old name of `TC`. */
function isUnder(code: string, selector: string): boolean {
  if (selector === 'ALL' || selector === code) return true
  if (selector.startsWith('TCH')) return isUnder(code, `TC${selector.slice(3)}`)
  if (selector === 'PL') return /^PL[CERW](?:\d|$)/.test(code)
  if (!code.startsWith(selector)) return false
  const isLettersOnly = /^[A-Z]+$/.test(selector)
  return !isLettersOnly || /^\d/.test(code.slice(selector.length))
}
