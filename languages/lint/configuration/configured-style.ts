import { z } from 'zod'
import { DocstringStyle } from '#domain/path-rules.ts'
import {
  type ConfigTree,
  iniNumber,
  lengthOf,
  nearest,
  shared,
  stringOf,
  type Table,
  tableAt,
  within,
} from './config-tree.ts'
import type { EditorConfig } from './editorconfig.ts'
import type { Flake8Config } from './flake8-config.ts'
import type { Governing } from './python-rules.ts'
import { lintOption } from './ruff-config.ts'

/** Holds what the configuration says about texts that are written into a file; what it does not say is absent. */
export type ConfiguredStyle = {
  lineLength?: number
  docLength?: number
  docstringQuotes?: '"""' | "'''"
  indent?: string
  docstringStyle?: DocstringStyle
}

type Style = { [Key in keyof ConfiguredStyle]: ConfiguredStyle[Key] | undefined }

const ruffLimit = 88
const flake8Limit = 79

type StyleOf = (path: string) => ConfiguredStyle

/**
 * Returns a function that reads the style of the files in a folder. The linter counts first, then pylint, the formatter
 * and `.editorconfig`; flake8's default line length counts last, even with its rule off. Equal styles share one object.
 */
export function styleReader(sources: ReturnType<typeof readStyleSources>, editor: EditorConfig) {
  const share = shared<ConfiguredStyle>()
  return (folder: string, linters: Governing | undefined): StyleOf => {
    const { lineLength, docLength, docstringQuotes, indent, docstringStyle } = linterStyle(linters)
    const last = linters?.flake8 === undefined ? undefined : flake8Limit
    const styleWith = (pairs: ReadonlyMap<string, string>) => {
      const limit = lineLength ?? sources.lineLength(folder) ?? iniNumber(pairs.get('max_line_length')) ?? last
      return said({
        lineLength: limit,
        docLength,
        // A `quote_type` of single applies to other strings, not to docstrings.
        docstringQuotes:
          docstringQuotes ?? (sources.isBlack(folder) || pairs.get('quote_type') === 'double' ? '"""' : undefined),
        indent: indent ?? editorIndent(pairs),
        docstringStyle: docstringStyle ?? sources.docstringStyle(folder),
      })
    }
    const ofFolder = share(styleWith(new Map()))
    const pairsOf = editor(folder)
    return pairsOf === undefined ? () => ofFolder : (path) => share(styleWith(pairsOf(path)))
  }
}

function linterStyle(linters: Governing | undefined): Style {
  if (linters?.flake8 !== undefined) return flake8Style(linters.flake8)
  return linters === undefined || linters.chain.length === 0 ? {} : ruffStyle(linters)
}

function said({ lineLength, docLength, docstringQuotes, indent, docstringStyle }: Style): ConfiguredStyle {
  return {
    ...(lineLength !== undefined && lineLength > 0 && { lineLength }),
    ...(docLength !== undefined && docLength > 0 && { docLength }),
    ...(docstringQuotes && { docstringQuotes }),
    ...(indent && { indent }),
    ...(docstringStyle && { docstringStyle }),
  }
}

function ruffStyle({ chain, settings }: Governing): Style {
  const format: Table = Object.assign({}, ...chain.map(({ table }) => tableAt(table['format']) ?? {}))
  const option = (...keys: readonly string[]) => lintOption(chain, ...keys)
  const limits = [option('line-length'), option('pycodestyle', 'max-line-length')].flatMap(
    (value) => lengthOf(value) ?? [],
  )
  const isFormatted = Object.keys(format).length > 0
  return {
    lineLength: limits.length > 0 ? Math.min(...limits) : settings.enabled.has('E501') ? ruffLimit : undefined,
    docLength: lengthOf(option('pycodestyle', 'max-doc-length')),
    docstringQuotes:
      // Ruff's formatter puts docstrings in double quotes unless `quote-style` is "preserve".
      quotesOf(option('flake8-quotes', 'docstring-quotes')) ??
      (isFormatted && format['quote-style'] !== 'preserve' ? '"""' : undefined),
    indent: indentOf(format, lengthOf(option('indent-width'))),
    docstringStyle: docstringStyleOf(option('pydocstyle', 'convention')),
  }
}

function indentOf(format: Table, width: number | undefined): string | undefined {
  if (format['indent-style'] === 'tab') return '\t'
  return format['indent-style'] === 'space' || width !== undefined ? ' '.repeat(width ?? 4) : undefined
}

function flake8Style({ value, rules, lint }: Flake8Config): Style {
  const indent = iniNumber(value('indent-size'))
  return {
    lineLength: iniNumber(value('max-line-length')) ?? (rules.select.includes('E501') ? flake8Limit : undefined),
    docLength: iniNumber(value('max-doc-length')),
    docstringQuotes: quotesOf(tableAt(lint['flake8-quotes'])?.['docstring-quotes']),
    indent: indent === undefined ? undefined : ' '.repeat(indent),
    docstringStyle: docstringStyleOf(value('docstring-convention')) ?? docstringStyleOf(value('style')),
  }
}

function quotesOf(style: unknown): Style['docstringQuotes'] {
  if (style === 'single') return "'''"
  return style === 'double' ? '"""' : undefined
}

function editorIndent(pairs: ReadonlyMap<string, string>): string | undefined {
  const style = pairs.get('indent_style')
  if (style === 'tab') return '\t'
  const size = iniNumber(pairs.get('indent_size')) ?? iniNumber(pairs.get('tab_width'))
  return size !== undefined && size > 0 && size <= 16 && style !== undefined ? ' '.repeat(size) : undefined
}

type Reader<T> = (tree: ConfigTree, folder: string) => T | undefined

/** The configuration of tools other than the linter, each from the nearest folder that has one. */
export function readStyleSources(tree: ConfigTree) {
  const lengths = lengthReaders.map((read) => nearest((folder) => read(tree, folder)))
  const styles = styleReaders.map((read) => nearest((folder) => read(tree, folder)))
  const black = nearest((folder) => tool(tree, folder, 'black'))
  return {
    /** Characters of a line: pylint, then Black, autopep8, yapf and isort. */
    lineLength: (folder: string) => firstOf(lengths, folder),
    docstringStyle: (folder: string) => firstOf(styles, folder),
    isBlack: (folder: string) => black(folder) !== undefined,
  }
}

function firstOf<T>(reads: readonly ((folder: string) => T | undefined)[], folder: string): T | undefined {
  return reads.map((read) => read(folder)).find((found) => found !== undefined)
}

function tool(tree: ConfigTree, folder: string, ...keys: readonly string[]) {
  return tableAt(tree.table(within(folder, 'pyproject.toml')), 'tool', ...keys)
}

type IniSearch = { files: readonly string[]; isMeant: RegExp; keys: readonly string[] }

/** An option of the first INI file that has it, in a section whose name matches `isMeant`. */
function iniOption(tree: ConfigTree, folder: string, { files, isMeant, keys }: IniSearch): string | undefined {
  for (const file of files) {
    for (const [name, options] of tree.ini(within(folder, file)) ?? []) {
      if (!isMeant.test(name)) continue
      const value = keys.map((key) => options.get(key)).find((found) => found !== undefined)
      if (value !== undefined) return value.trim()
    }
  }
  return undefined
}

const pylintKeys = ['max-line-length', 'max_line_length']
const pylintFiles = ['pylintrc', '.pylintrc']

const lengthReaders: readonly Reader<number>[] = [
  (tree, folder) => {
    const tables = [
      tool(tree, folder, 'pylint'),
      tree.table(within(folder, 'pylintrc.toml')),
      tree.table(within(folder, '.pylintrc.toml')),
    ].flatMap((table) => [
      table,
      ...Object.values(table ?? {}).map((one) => tableAt(one)),
      tableAt(table, 'tool', 'pylint', 'format'),
    ])
    const inToml = tables
      .flatMap((table) => pylintKeys.map((key) => lengthOf(table?.[key])))
      .find((one) => one !== undefined)
    const own = iniOption(tree, folder, { files: pylintFiles, isMeant: /./, keys: pylintKeys })
    const common = iniOption(tree, folder, { files: ['setup.cfg', 'tox.ini'], isMeant: /^pylint\b/i, keys: pylintKeys })
    return iniNumber(own) ?? inToml ?? iniNumber(common)
  },
  (tree, folder) => {
    const black = tool(tree, folder, 'black')
    return black && (lengthOf(black['line-length'] ?? black['line_length']) ?? 88)
  },
  (tree, folder) => lengthOf(tool(tree, folder, 'autopep8')?.['max_line_length']),
  (tree, folder) => {
    const keys = ['column_limit']
    const own = iniOption(tree, folder, { files: ['.style.yapf'], isMeant: /^style$/, keys })
    const common = iniOption(tree, folder, { files: ['setup.cfg'], isMeant: /^yapf$/, keys })
    return iniNumber(own) ?? iniNumber(common) ?? lengthOf(tool(tree, folder, 'yapf')?.['column_limit'])
  },
  (tree, folder) => {
    const isort = tool(tree, folder, 'isort')
    const keys = ['line_length', 'line-length']
    const own = iniOption(tree, folder, { files: ['.isort.cfg'], isMeant: /^(?:settings|isort)$/, keys })
    const common = iniOption(tree, folder, { files: ['setup.cfg', 'tox.ini'], isMeant: /^(?:tool:)?isort$/, keys })
    const inToml = lengthOf(isort?.['line_length'] ?? isort?.['line-length'])
    return iniNumber(own) ?? inToml ?? iniNumber(common) ?? (isort?.['profile'] === 'black' ? 88 : undefined)
  },
]

const pydocstyleFiles = ['.pydocstyle', '.pydocstyle.ini', '.pydocstylerc', '.pydocstylerc.ini']
const sharedFiles = ['setup.cfg', 'tox.ini']

/** The conventions that we can write; `pep257`, `epytext` and others are not among them. */
const NamedStyle = z.preprocess(
  (value) => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  DocstringStyle,
)

function docstringStyleOf(value: unknown): DocstringStyle | undefined {
  return NamedStyle.safeParse(value === 'rest' || value === 'rst' ? 'sphinx' : value).data
}

const styleReaders: readonly Reader<DocstringStyle>[] = [
  (tree, folder) => {
    const files = [...sharedFiles, ...pydocstyleFiles]
    const inIni = iniOption(tree, folder, { files, isMeant: /^pydocstyle$/, keys: ['convention'] })
    return docstringStyleOf(inIni ?? tool(tree, folder, 'pydocstyle')?.['convention'])
  },
  (tree, folder) => (tool(tree, folder, 'numpydoc_validation') === undefined ? undefined : 'numpy'),
  (tree, folder) => docstringStyleOf(tool(tree, folder, 'pydoclint')?.['style']),
  (tree, folder) => {
    const keys = ['docstring_style', 'docstring-style']
    const files = ['.darglint', ...sharedFiles]
    const inIni = iniOption(tree, folder, { files, isMeant: /^(?:darglint|flake8)$/, keys })
    return docstringStyleOf(inIni ?? tool(tree, folder, 'darglint')?.['docstring_style'])
  },
  (tree, folder) => {
    const inIni = iniOption(tree, folder, { files: sharedFiles, isMeant: /^docformatter$/, keys: ['style'] })
    return docstringStyleOf(inIni ?? stringOf(tool(tree, folder, 'docformatter')?.['style']))
  },
]
