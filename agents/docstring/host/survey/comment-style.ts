import { basename } from 'node:path/posix'
import { isRecord } from '#domain/json.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { lengthOf, readConfigTree, type ConfigFile } from '#languages/lint/configuration/config-tree.ts'
import { readEditorConfig } from '#languages/lint/configuration/editorconfig.ts'
import { parseJsonWithComments } from '#platform/json-with-comments.ts'
import { readToml } from '#platform/toml-source.ts'
import { readYaml } from '#platform/yaml-source.ts'

const prettierNames = /^(?:package\.json|\.prettierrc(?:\.(?:json5?|ya?ml|toml))?)$/
const biomeNames = /^biome\.jsonc?$/
const rustNames = /^\.?rustfmt\.toml$/
const scriptLanguages = new Set(['typescript', 'tsx', 'javascript'])
/** Prettier's own, where it is configured without one. */
const prettierWidth = 80

export function isFormatConfig(path: string): boolean {
  const name = basename(path)
  return name === '.editorconfig' || [prettierNames, biomeNames, rustNames].some((names) => names.test(name))
}

/** Returns the line length by the nearest formatter's configuration, else by `.editorconfig`. Configurations that are programs are not run. */
export function lineLengths(files: readonly ConfigFile[]): (path: string, language: string) => number | undefined {
  const editor = readEditorConfig(
    readConfigTree(
      files.filter(({ path }) => basename(path) === '.editorconfig'),
      () => {},
    ),
  )
  const scripts = new Map<string, number>()
  const rust = new Map<string, number>()
  for (const { path, text } of files) {
    const width = rustNames.test(basename(path)) ? undefined : scriptWidth(path, text)
    if (width !== undefined) scripts.set(folderOf(path), Math.min(width, scripts.get(folderOf(path)) ?? width))
    const rustWidth = rustNames.test(basename(path)) ? lengthOf(tableOf(text, 'toml')['max_width']) : undefined
    if (rustWidth !== undefined) rust.set(folderOf(path), rustWidth)
  }
  return (path, language) => {
    const folder = folderOf(path)
    const known = scriptLanguages.has(language) ? scripts : language === 'rust' ? rust : undefined
    const configured = foldersUp(folder).flatMap((one) => known?.get(one) ?? [])[0]
    return configured ?? lengthOf(Number(editor(folder)?.(path).get('max_line_length')))
  }
}

function scriptWidth(path: string, text: string): number | undefined {
  const name = basename(path)
  if (biomeNames.test(name)) {
    const formatter = tableOf(text, 'json')['formatter']
    return isRecord(formatter) ? lengthOf(formatter['lineWidth']) : undefined
  }
  if (!prettierNames.test(name)) return undefined
  const table = tableOf(text, name.endsWith('.toml') ? 'toml' : /\.ya?ml$/.test(name) ? 'yaml' : 'json')
  const own = name === 'package.json' ? table['prettier'] : table
  return isRecord(own) ? (lengthOf(own['printWidth']) ?? prettierWidth) : undefined
}

function tableOf(text: string, form: 'toml' | 'yaml' | 'json'): Record<string, unknown> {
  const value = form === 'toml' ? tomlOf(text) : form === 'json' ? jsonOf(text) : readYaml(text).value
  return isRecord(value) ? value : {}
}

function tomlOf(text: string): unknown {
  const read = readToml(text)
  return 'table' in read ? read.table : undefined
}

/** YAML reads most of JSON5. */
function jsonOf(text: string): unknown {
  try {
    return parseJsonWithComments(text)
  } catch {
    return readYaml(text).value
  }
}
