import type { Paint } from '../progress/paint.ts'

const fenceLine = /^(?<fence>`{3,})\S*$/

/** Headings stand out, fences step back; what is between fences stays as it is. */
export function paintMarkdown(markdown: string, paint: Paint): string {
  let fence: string | undefined
  const painted = markdown.split('\n').map((line) => {
    const found = fenceLine.exec(line)?.groups?.['fence']
    if (fence !== undefined) {
      if (line !== fence) return line
      fence = undefined
      return paint('dim', line)
    }
    fence = found
    if (found !== undefined || line.startsWith('- ')) return paint('dim', line)
    return line.startsWith('#') ? paint('bold', line) : line
  })
  return painted.join('\n')
}
