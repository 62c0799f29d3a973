import { z } from 'zod'
import { DocstringStyle } from '#domain/path-rules.ts'
import { type ConfigTree, lengthOf, nearest, stringOf, tableAt, within } from './config-tree.ts'
import { iniNumber } from './ini-file.ts'

/** What tools beside the linter say about texts, each from the nearest folder that has its configuration. */
export type StyleSources = {
  /** Characters of a line: pylint, then Black, autopep8, yapf and isort. */
  lineLength(folder: string): number | undefined
  docstringStyle(folder: string): DocstringStyle | undefined
  isBlack(folder: string): boolean
}

type Reader<T> = (tree: ConfigTree, folder: string) => T | undefined

export function readStyleSources(tree: ConfigTree): StyleSources {
  const lengths = lengthReaders.map((read) => nearest((folder) => read(tree, folder)))
  const styles = styleReaders.map((read) => nearest((folder) => read(tree, folder)))
  const black = nearest((folder) => tool(tree, folder, 'black'))
  return {
    lineLength: (folder) => firstOf(lengths, folder),
    docstringStyle: (folder) => firstOf(styles, folder),
    isBlack: (folder) => black(folder) !== undefined,
  }
}

function firstOf<T>(reads: readonly ((folder: string) => T | undefined)[], folder: string): T | undefined {
  for (const read of reads) {
    const found = read(folder)
    if (found !== undefined) return found
  }
  return undefined
}

function tool(tree: ConfigTree, folder: string, ...keys: readonly string[]) {
  return tableAt(tree.table(within(folder, 'pyproject.toml')), 'tool', ...keys)
}

/** An option of the first of the INI files that has it, in a section that `isMeant` accepts. */
function iniOption(
  tree: ConfigTree,
  folder: string,
  { files, isMeant, keys }: { files: readonly string[]; isMeant: RegExp; keys: readonly string[] },
): string | undefined {
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
    const shared = iniOption(tree, folder, { files: ['setup.cfg', 'tox.ini'], isMeant: /^pylint\b/i, keys: pylintKeys })
    return iniNumber(own) ?? inToml ?? iniNumber(shared)
  },
  (tree, folder) => {
    const black = tool(tree, folder, 'black')
    return black && (lengthOf(black['line-length'] ?? black['line_length']) ?? 88)
  },
  (tree, folder) => lengthOf(tool(tree, folder, 'autopep8')?.['max_line_length']),
  (tree, folder) => {
    const keys = ['column_limit']
    const own = iniOption(tree, folder, { files: ['.style.yapf'], isMeant: /^style$/, keys })
    const shared = iniOption(tree, folder, { files: ['setup.cfg'], isMeant: /^yapf$/, keys })
    return iniNumber(own) ?? iniNumber(shared) ?? lengthOf(tool(tree, folder, 'yapf')?.['column_limit'])
  },
  (tree, folder) => {
    const isort = tool(tree, folder, 'isort')
    const keys = ['line_length', 'line-length']
    const own = iniOption(tree, folder, { files: ['.isort.cfg'], isMeant: /^(?:settings|isort)$/, keys })
    const shared = iniOption(tree, folder, { files: ['setup.cfg', 'tox.ini'], isMeant: /^(?:tool:)?isort$/, keys })
    const inToml = lengthOf(isort?.['line_length'] ?? isort?.['line-length'])
    return iniNumber(own) ?? inToml ?? iniNumber(shared) ?? (isort?.['profile'] === 'black' ? 88 : undefined)
  },
]

const pydocstyleFiles = ['.pydocstyle', '.pydocstyle.ini', '.pydocstylerc', '.pydocstylerc.ini']
const sharedFiles = ['setup.cfg', 'tox.ini']

/** The conventions that are a style; `pep257`, `epytext` and others are none that we write. */
const NamedStyle = z.preprocess(
  (value) => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  DocstringStyle,
)

export function docstringStyleOf(value: unknown): DocstringStyle | undefined {
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
