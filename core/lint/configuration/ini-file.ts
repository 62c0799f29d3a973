/** section → key → value, keys in lower case. A value of several lines keeps its line breaks. */
export type IniFile = ReadonlyMap<string, ReadonlyMap<string, string>>

const sectionHeader = /^\[(?<name>[^\]]+)\]/
const option = /^(?<key>[^\s:=][^:=]*?)\s*(?:[:=]\s*(?<value>.*))?$/

/**
 * Reads an INI file as Python's `configparser.RawConfigParser` does: `=` or `:`, whole-line comments with `#` or `;`,
 * deeper lines that continue a value, no interpolation, defaults from `[DEFAULT]`. Of an option or section that is there
 * twice, which Python refuses, the last one counts. Answers what is wrong, in one sentence, where a line is no INI.
 *
 * No library does this: `ini` and `js-ini` know no values of several lines, and `configparser` of npm, a port of the
 * Python module, neither.
 */
export function readIni(text: string): IniFile | { fault: string } {
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  let open: { key: string; indent: number } | undefined
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
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
    const groups = option.exec(content)?.groups
    if (section === undefined || groups?.['key'] === undefined || groups['value'] === undefined) {
      return { fault: `line ${index + 1} is no option of a section` }
    }
    open = { key: groups['key'].toLowerCase(), indent }
    section.set(open.key, groups['value'])
  }
  return withDefaults(sections)
}

function withDefaults(sections: Map<string, Map<string, string>>): IniFile {
  const defaults = sections.get('DEFAULT')
  if (defaults === undefined) return sections
  return new Map([...sections].map(([name, own]) => [name, new Map([...defaults, ...own])]))
}

/** What a list of an INI file says, separated by commas, spaces or line ends. */
export function iniList(value: string | undefined): string[] {
  return (value ?? '').split(/[,\s]+/).filter((one) => one !== '')
}

/** A whole number; undefined when the value is none. */
export function iniNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*\d+\s*$/.test(value) ? Number(value) : undefined
}
