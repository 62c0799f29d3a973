/** What Ruff says of the settings that it has for a file. */
export type RuffSettings = {
  /** Holds the codes of the rules that are on. */
  enabled: ReadonlySet<string>
  /** Returns a value by its key: `linter.line_length`; undefined where Ruff says none. */
  value(key: string): string | undefined
}

/** Reads what `ruff check --show-settings` prints. */
export function readRuffSettings(output: string): RuffSettings {
  const enabled = /^linter\.rules\.enabled = \[\n(?<rules>[^\]]*)\]/m.exec(output)?.groups?.['rules'] ?? ''
  const values = new Map(
    Array.from(output.matchAll(/^(?<key>[\w.]+) = (?<value>.*)$/gm), ([, key = '', value = '']) => [key, value]),
  )
  return {
    enabled: new Set(Array.from(enabled.matchAll(/\(([A-Z]+\d+)\)/g), ([, code = '']) => code)),
    value(key) {
      const value = values.get(key)
      return value === 'none' ? undefined : value
    },
  }
}
