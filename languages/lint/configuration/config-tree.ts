import { z } from 'zod'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { readToml } from '#platform/toml-source.ts'

export type ConfigFile = { path: string; text: string }

export type Table = Readonly<Record<string, unknown>>

/** Holds the configuration files of a snapshot, parsed. Paths are relative to its top, folders without a slash at the end. */
export type ConfigTree = ReturnType<typeof readConfigTree>

const tomlNames = /(?:^|\/)(?:pyproject\.toml|[^/]*ruff[^/]*\.toml|\.?pylintrc\.toml)$/
const iniNames =
  /(?:^|\/)(?:setup\.cfg|tox\.ini|\.flake8|\.pydocstyle(?:rc)?(?:\.ini)?|\.isort\.cfg|\.style\.yapf|\.?pylintrc|\.darglint)$/
const otherNames = /(?:^|\/)(?:\.editorconfig|\.pre-commit-config\.ya?ml|(?:uv|poetry|pdm)\.lock)$/

const scriptJsonNames =
  /(?:^|\/)(?:\.oxlintrc\.jsonc?|\.?biome\.jsonc?|\.eslintrc(?:\.json)?|package\.json|\.prettierrc(?:\.json)?)$/
const scriptYamlNames = /(?:^|\/)(?:\.eslintrc|\.prettierrc)\.ya?ml$/
const programNames = /(?:^|\/)(?:\.eslintignore|\.eslintrc\.c?js|(?:eslint|oxlint)\.config\.[cm]?[jt]s)$/

/** Configurations of linters for JavaScript and TypeScript, and of Prettier. */
export function isScriptConfig(path: string): boolean {
  return scriptJsonNames.test(path) || scriptYamlNames.test(path) || programNames.test(path)
}

export function isYaml(path: string): boolean {
  return scriptYamlNames.test(path)
}

/** A list of patterns, or a program, which is never run: there is no table in it. */
export function isProgram(path: string): boolean {
  return programNames.test(path)
}

export function isLintConfig(path: string): boolean {
  return tomlNames.test(path) || iniNames.test(path) || otherNames.test(path) || isScriptConfig(path)
}

/** Parses the files. One that cannot be parsed is left out, and `notice` is called with its folder and the reason. */
export function readConfigTree(files: readonly ConfigFile[], notice: (folder: string, words: string) => void) {
  const tables = new Map<string, Table>()
  const inis = new Map<string, IniFile>()
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  for (const { path, text } of files) {
    const read = tomlNames.test(path) ? readToml(text) : iniNames.test(path) ? readIni(text) : undefined
    if (read === undefined) continue
    if ('fault' in read) notice(folderOf(path), `${path} cannot be read and is passed over: ${read.fault}`)
    else if ('table' in read) tables.set(path, read.table)
    else inis.set(path, read)
  }
  return {
    table: (path: string) => tables.get(path),
    ini: (path: string) => inis.get(path),
    text: (path: string) => texts.get(path),
    paths: files.map(({ path }) => path),
  }
}

const Strings = z.array(z.string())
const AnyTable = z.record(z.string(), z.unknown())
const Tables = z.array(AnyTable)

export function tableAt(value: unknown, ...keys: readonly string[]): Table | undefined {
  const table = AnyTable.safeParse(value)
  const [key, ...rest] = keys
  if (!table.success || value instanceof Date) return undefined
  return key === undefined ? table.data : tableAt(table.data[key], ...rest)
}

export function tablesOf(value: unknown): Table[] {
  return Tables.safeParse(value).data ?? []
}

export function stringsOf(value: unknown): string[] {
  return Strings.safeParse(value).data ?? []
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a whole number of at least 1. */
export function lengthOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : undefined
}

export function within(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** Returns the value of the nearest folder that has one, up to the root; `own` is called once per folder. */
export function nearest<T>(own: (folder: string) => T | undefined): (folder: string) => T | undefined {
  const known = new Map<string, T | undefined>()
  const find = (folder: string): T | undefined => {
    if (known.has(folder)) return known.get(folder)
    const value = own(folder) ?? (folder === '' ? undefined : find(folderOf(folder)))
    known.set(folder, value)
    return value
  }
  return find
}

/** Returns the same object for equal contents. */
export function shared<T extends object>(): (value: T) => T {
  const known = new Map<string, T>()
  return (value) => getOrMake(known, JSON.stringify(value), () => value)
}

/** Maps section → key → value, keys in lower case. A value of several lines keeps its line breaks. */
type IniFile = ReadonlyMap<string, ReadonlyMap<string, string>>

const maxIniCharacters = 256 * 1024

const sectionHeader = /^\[(?<name>[^\]]+)\]/

/**
 * Reads an INI file as Python's `configparser.RawConfigParser` does: `=` or `:`, whole-line comments with `#` or `;`,
 * values continued on deeper lines, no interpolation, defaults from `[DEFAULT]`. Python refuses a repeated option or
 * section; here the last one counts. Returns the fault, in one sentence, when a line is not valid.
 *
 * No library does this: `ini`, `js-ini` and npm's `configparser`, a port of that module, read no multi-line values.
 */
export function readIni(text: string): IniFile | { fault: string } {
  if (text.length > maxIniCharacters) return { fault: `it has more than ${maxIniCharacters} characters` }
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  let open: { key: string; indent: number } | undefined
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (const [index, line] of lines.entries()) {
    const content = line.trim()
    if (content === '' || /^[#;]/.test(content)) continue
    const indent = line.length - line.trimStart().length
    if (section !== undefined && open !== undefined && indent > open.indent) {
      section.set(open.key, `${section.get(open.key) ?? ''}\n${content}`)
      continue
    }
    const name = sectionHeader.exec(content)?.groups?.['name']
    if (name !== undefined) {
      section = sections.get(name) ?? new Map<string, string>()
      sections.set(name, section)
      open = undefined
      continue
    }
    const end = content.search(/[:=]/)
    if (section === undefined || end <= 0) return { fault: `line ${index + 1} is no option of a section` }
    open = { key: content.slice(0, end).trimEnd().toLowerCase(), indent }
    section.set(open.key, content.slice(end + 1).trimStart())
  }
  return withDefaults(sections)
}

function withDefaults(sections: Map<string, Map<string, string>>): IniFile {
  const defaults = sections.get('DEFAULT')
  if (defaults === undefined) return sections
  return new Map([...sections].map(([name, own]) => [name, new Map([...defaults, ...own])]))
}

/** Returns the elements of a list in an INI file, separated by commas, spaces or line ends. */
export function iniList(value: string | undefined): string[] {
  return (value ?? '').split(/[,\s]+/).filter((element) => element !== '')
}

export function iniNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*\d+\s*$/.test(value) ? Number(value) : undefined
}
