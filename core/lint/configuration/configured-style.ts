import type { DocstringStyle } from '#domain/path-rules.ts'
import { lengthOf, shared, stringOf, type Table, tableAt } from './config-tree.ts'
import type { EditorConfig } from './editorconfig.ts'
import type { Flake8Project } from './flake8-projects.ts'
import { iniNumber } from './ini-file.ts'
import type { RuffProject } from './ruff-projects.ts'
import { switchesOn } from './rule-selection.ts'
import { docstringStyleOf, type StyleSources } from './style-sources.ts'

/** What the configuration says about texts that are written into a file; undefined where it says nothing. */
export type ConfiguredStyle = {
  lineLength?: number
  docLength?: number
  docstringQuotes?: '"""' | "'''"
  indent?: string
  docstringStyle?: DocstringStyle
}

/** What is undefined says nothing. */
type Style = { [Key in keyof ConfiguredStyle]: ConfiguredStyle[Key] | undefined }

type Linters = { ruff: RuffProject | undefined; flake8: Flake8Project | undefined }

/** What Ruff and flake8 hold lines to where a configuration does not say it. */
const ruffLimit = 88
const flake8Limit = 79

/** The style of a file in one folder. */
type StyleOf = (path: string) => ConfiguredStyle

type OtherSources = { sources: StyleSources; editor: EditorConfig }

/**
 * The linter counts first, then pylint, the formatter and `.editorconfig`. Where only flake8's own default is left, it
 * counts last, also when the rule is off. Files of the same style have the same object.
 */
export function styleReader({ sources, editor }: OtherSources): (folder: string, linters: Linters) => StyleOf {
  const share = shared<ConfiguredStyle>()
  return (folder, linters) => {
    const { lineLength, docLength, docstringQuotes, indent, docstringStyle } = linterStyle(linters)
    const last = linters.ruff === undefined && linters.flake8 !== undefined ? flake8Limit : undefined
    const styleWith = (pairs: ReadonlyMap<string, string>) => {
      const limit = lineLength ?? sources.lineLength(folder) ?? iniNumber(pairs.get('max_line_length')) ?? last
      return said({
        lineLength: limit,
        docLength,
        docstringQuotes: docstringQuotes ?? formatterQuotes(sources.isBlack(folder), pairs.get('quote_type')),
        indent: indent ?? editorIndent(pairs),
        docstringStyle: docstringStyle ?? sources.docstringStyle(folder),
      })
    }
    const ofFolder = share(styleWith(new Map()))
    const pairsOf = editor(folder)
    return pairsOf === undefined ? () => ofFolder : (path) => share(styleWith(pairsOf(path)))
  }
}

function linterStyle({ ruff, flake8 }: Linters): Style {
  if (ruff !== undefined) return ruffStyle(ruff)
  return flake8 === undefined ? {} : flake8Style(flake8)
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

function ruffStyle({ options, format }: RuffProject): Style {
  const lint = tableAt(options['lint']) ?? {}
  const pycodestyle = tableAt(lint['pycodestyle'])
  const limits = [options['line-length'], pycodestyle?.['max-line-length']].flatMap((value) => lengthOf(value) ?? [])
  const quotes = tableAt(lint['flake8-quotes'])?.['docstring-quotes']
  const isFormatted = Object.keys(format).length > 0
  return {
    lineLength: limits.length > 0 ? Math.min(...limits) : switchesOn(lint, 'E501') ? ruffLimit : undefined,
    docLength: lengthOf(pycodestyle?.['max-doc-length']),
    // Ruff's formatter has docstrings in double quotes whatever `quote-style` says, unless that is "preserve".
    docstringQuotes: quotesOf(quotes) ?? (isFormatted && format['quote-style'] !== 'preserve' ? '"""' : undefined),
    indent: indentOf(format, lengthOf(options['indent-width'])),
    docstringStyle: docstringStyleOf(tableAt(lint['pydocstyle'])?.['convention']),
  }
}

function indentOf(format: Table, width: number | undefined): string | undefined {
  if (format['indent-style'] === 'tab') return '\t'
  return format['indent-style'] === 'space' || width !== undefined ? ' '.repeat(width ?? 4) : undefined
}

function flake8Style({ value, rules, lint }: Flake8Project): Style {
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

/** A `quote_type` of single is for strings; docstrings in single quotes are another convention. */
function formatterQuotes(isBlack: boolean, quoteType: string | undefined): Style['docstringQuotes'] {
  return isBlack || stringOf(quoteType) === 'double' ? '"""' : undefined
}

function editorIndent(pairs: ReadonlyMap<string, string>): string | undefined {
  const style = pairs.get('indent_style')
  if (style === 'tab') return '\t'
  const size = iniNumber(pairs.get('indent_size')) ?? iniNumber(pairs.get('tab_width'))
  return size !== undefined && size > 0 && size <= 16 && style !== undefined ? ' '.repeat(size) : undefined
}
