import { figure } from '#domain/figure.ts'

/** The longest text that a cell of a table, or a reason in a sentence, shows. */
const mostCharacters = 300

/** Writes a text for Markdown on one line, without anything that has a meaning for GitHub: HTML, links, mentions, references. */
export function cell(text: string): string {
  const escaped = oneLine(text).replaceAll(/[\\`*_{}[\]()<>#+!|~&$-]/g, (character) => `\\${character}`)
  // A word joiner: nobody is notified, and no issue is closed, by what a model says.
  return escaped
    .replaceAll('@', '\u2060@\u2060')
    .replaceAll('#', '#\u2060')
    .replaceAll(/\bGH\\?-/gi, 'GH\u2060-')
    .replaceAll('//', '/\u2060/')
    .replaceAll(/www\./gi, 'www\u2060.')
}

function oneLine(text: string): string {
  return text
    .slice(0, mostCharacters)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
}

/** The same as code: names and paths stay as they are. */
export function code(text: string): string {
  const line = oneLine(text)
  // A table cannot have these two in code: there they are a bar alone.
  if (line.includes('\\|')) return cell(line)
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const space = line === '' || line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Cells are Markdown already, as `cell` and `code` make it. A bar in code ends a cell, too, unless it is escaped; elsewhere that escape would be seen. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(withoutBars).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const withoutBars = (markdown: string) => markdown.replaceAll(/(?<!\\)\|/g, '\\|')

/** Hides `shown`, which is Markdown, until people ask for it. */
export function collapsed(summary: string, shown: string): string {
  return `<details><summary>${summary}</summary>\n\n${shown}\n\n</details>`
}

/** Cuts at the end of a line: what is left open in one may have a meaning for GitHub. Nothing is left of one line alone. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, Math.max(0, text.lastIndexOf('\n', most)))
  const count = (tag: RegExp) => kept.match(tag)?.length ?? 0
  const open = count(/^<details>/gm) - count(/^<\/details>/gm)
  return `${kept}\n\n… (cut)${'\n\n</details>'.repeat(open)}`
}

export function plural(count: number, noun: string): string {
  return `${figure(count)} ${count === 1 ? noun : `${noun}s`}`
}
