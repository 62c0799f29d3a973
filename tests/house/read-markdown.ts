import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesMatching, readRepositoryFile, repositoryRoot } from './source-files.ts'

/** A command a page tells the reader to type, up to the first pipe, redirection, comment or second command. */
export interface DocumentedCommand {
  /** `path:line` of the page. */
  at: string
  words: string[]
}

const requiredPages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']

/** The pages that are checked, as paths from the root. A required page is listed whether it exists or not. */
export function listPages(): string[] {
  return [...requiredPages, ...filesMatching('docs/**/*.md')]
}

export function readPage(path: string): string {
  return existsSync(repositoryRoot + path) ? readRepositoryFile(path) : ''
}

/** Every command of a page that starts with `start`, in fences and in code spans; lines that end in `\` are joined. */
export function findCommands(path: string, text: string, start: string): DocumentedCommand[] {
  const joined = text.replace(/\\\n\s*/g, (line) => ' '.repeat(line.length))
  const pattern = new RegExp(`(?<![\\w/.-])${start.replaceAll(' ', ' +')}((?: +[^\\s\`|&;>#)]+)*)`, 'g')
  return [...joined.matchAll(pattern)].map((match) => ({
    at: `${path}:${text.slice(0, match.index).split('\n').length}`,
    words: (match[1] ?? '').split(' ').filter((word) => word !== ''),
  }))
}

/** The broken links of a page to files of the repository, one sentence each. Anchors must be headings. */
export function deadLinks(path: string, text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)[^)]*\)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)]
  return targets.flatMap(([, link = '']) => {
    if (/^(?:https?|mailto):/.test(link)) return []
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file))
    if (target !== path && !existsSync(repositoryRoot + target))
      return [`${path} links to ${target}, which does not exist`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    const known = target === path ? text : readPage(target)
    return headingAnchors(known).includes(anchor) ? [] : [`${path} links to ${target}#${anchor}, which is no heading`]
  })
}

/** The anchors GitHub gives to the headings of a page. */
function headingAnchors(text: string): string[] {
  const headings = text.replace(/^```.*?^```/gms, '').matchAll(/^#{1,6} +(.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** One row of ARCHITECTURE.md's table of steps: the functions, and the files or folders that the row names for them. */
export interface ArchitectureStep {
  step: number
  functions: string[]
  places: string[]
  /** The row says "planned": the function must not be there yet. */
  planned: boolean
}

/** Reads the rows `| 1 | \`acceptRun\` | stages/intake/accept-run.ts | … |`. */
export function readSteps(text: string): ArchitectureStep[] {
  return [...text.matchAll(/^\| *(\d+) *\|([^|]*)\|([^|]*)\|.*$/gm)].map(
    ([row, step, functions = '', places = '']) => ({
      step: Number(step),
      functions: [...functions.matchAll(/`(\w+)(?:\(\))?`/g)].map(([, name = '']) => name),
      places: [...new Set([...places.matchAll(/(?<=\()[\w-]+\/[\w/.-]+(?=\))/g)].map(([place]) => place))],
      planned: /\bplanned\b/i.test(row),
    }),
  )
}

/** The words in backticks from `Operation states:` to the end of that paragraph. */
export function readOperationStates(text: string): string[] {
  const paragraph = /^\W*Operation states?\W*:(.*?)(?:\n\s*\n|$(?![\s\S]))/ims.exec(text)?.[1] ?? ''
  return [...paragraph.matchAll(/`([^`]+)`/g)].flatMap(([, words = '']) => words.match(/[a-z]+/g) ?? [])
}
