/** The longest text that a cell of a table, or a reason in a sentence, shows. */
const mostCharacters = 300

/**
 * Text of a repository or a model for Markdown that GitHub shows: on one line, without HTML, links, pictures, mentions, references to
 * issues or anything else that has a meaning there.
 */
export function cell(text: string): string {
  const line = text
    .slice(0, mostCharacters)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
  const escaped = line.replaceAll(/[\\`*_{}[\]()<>#+!|~&$-]/g, (found) => `\\${found}`)
  // A word joiner: nobody is notified, and no issue is closed, by what a model says.
  return escaped
    .replaceAll('@', '\u2060@\u2060')
    .replaceAll('#', '#\u2060')
    .replaceAll(/\bGH\\?-/gi, 'GH\u2060-')
    .replaceAll('//', '/\u2060/')
    .replaceAll(/www\./gi, 'www\u2060.')
}

/** The same as code: names and paths stay as they are. */
export function code(text: string): string {
  const line = text
    .slice(0, mostCharacters)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
  // In a table even code must not have a bar, and its escape is none behind a backslash.
  if (line.includes('\\|')) return cell(line)
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const space = line === '' || line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${space}${line.replaceAll('|', '\\|')}${space}${fence}`
}

/** Cells are Markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
}
