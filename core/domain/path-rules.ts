import { z } from 'zod'

/** The lint rules that hold for one Python file, resolved from the repository's own configuration. */
export const LintRules = z.strictObject({
  /** The configuration they come from, as people name it: `pyproject.toml [tool.ruff]`, `tox.ini [flake8]`, `default`. */
  source: z.string(),
  /** Options of Ruff, as its configuration file spells them; checked when the rules were read. */
  options: z.record(z.string(), z.unknown()),
  /** Options of a second look, in preview: for flake8's rules that Ruff has only there. The first one stays stable. */
  previewOptions: z.record(z.string(), z.unknown()).optional(),
  /** Rule selectors (`E`, `F401`) that are off in this file: by per-file ignores, or as Ruff judges them wrongly there. */
  ignored: z.array(z.string()),
  /** Rule selectors whose fixes the configuration forbids for this file: `unfixable`, `extend-unsafe-fixes`. */
  unfixable: z.array(z.string()),
  /** The repository's linter does not look at this file: nothing is reported or fixed in it. */
  isExcluded: z.boolean(),
})
export type LintRules = z.infer<typeof LintRules>

const docstringStyles = ['google', 'numpy', 'sphinx', 'plain'] as const
export const DocstringStyle = z.enum(docstringStyles)
export type DocstringStyle = z.infer<typeof DocstringStyle>

/** What holds for every text that is written into one file. */
export const TextStyle = z.strictObject({
  /** Characters a line may have: of the linter, else of the formatter, else of `.editorconfig`. */
  lineLength: z.int().min(1),
  /** Characters a line of a docstring may have, where the linter has a limit of its own for them (W505, `max-doc-length`). */
  docLength: z.int().min(1).optional(),
  docstringQuotes: z.enum(['"""', "'''"]),
  /** One level; undefined: the file's own. */
  indent: z.string().optional(),
  /** The docstring convention the configuration names, or most docstrings of the package follow. */
  docstringStyle: DocstringStyle,
  /** Where the text of a docstring of several lines begins: behind the quotes (as where nothing is said), or below them. */
  docstringSummary: z.enum(['first_line', 'second_line']).optional(),
  /** Whether an empty line stands between the docstring of a class and its body; it does where nothing is said. */
  gapAfterClassDocstring: z.boolean().optional(),
  /** Whether sections name the types of parameters; they do where nothing is said. */
  docstringTypes: z.boolean().optional(),
  /** Which of Sphinx's two fields says what a function returns; either one where nothing is said. */
  docstringReturnField: z.enum(['return', 'returns']).optional(),
})
export type TextStyle = z.infer<typeof TextStyle>

/** All that the repository says about one Python file. */
export const PathRules = z.strictObject({
  lint: LintRules,
  text: TextStyle,
  /** Names of the file's module that others depend on: what other files import or use of it. `all`: they take everything. */
  keptNames: z.union([z.literal('all'), z.array(z.string())]),
  /** First parts of the names of the repository's own modules; where they are not known, the folders of the path are taken. */
  ownModules: z.array(z.string()).optional(),
})
export type PathRules = z.infer<typeof PathRules>

/**
 * What is looked for where a repository has no linter configuration: Pyflakes, and what pycodestyle and Python itself
 * call an error in every code base (E9, W605 invalid escape sequences), and `not x in y`, whose meaning is clear and
 * whose form every style guide rejects (E713, E714).
 */
export const defaultLintRules: LintRules = {
  source: 'default',
  options: { lint: { select: ['F', 'E713', 'E714', 'E9', 'W605'] } },
  ignored: [],
  unfixable: [],
  isExcluded: false,
}

/** 88 is the limit of Black and of Ruff; docstrings in double quotes are PEP 257's. */
export const defaultTextStyle: TextStyle = { lineLength: 88, docstringQuotes: '"""', docstringStyle: 'google' }

export const defaultPathRules: PathRules = { lint: defaultLintRules, text: defaultTextStyle, keptNames: [] }
