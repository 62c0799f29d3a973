import { parseJson } from '#domain/json.ts'
import { folderOf } from '#domain/repo-path.ts'
import {
  anchorMeant,
  judgedTarget,
  type LinkedFiles,
  openLinkedFiles,
  type ReadText,
  reasonBroken,
  type Target,
} from './broken-links.ts'
import { type ArticleFacts, readArticle } from './read-article.ts'

export type ProseFault = {
  kind: 'broken_link' | 'skipped_level' | 'no_language' | 'doubled_word'
  line: number
  message: string
  /** The text of its line without the fault, where there is only one way to mend it. */
  mended?: string
}

export type ArticleTree = {
  read: ReadText
  /** The paths of the files of this name, wherever they are. */
  filesNamed(name: string): readonly string[]
}

/** `unjudged`: the lines of links that were not judged, as the article has very many. */
export type ArticleFaults = { faults: ProseFault[]; unjudged: number[] }

/** What is wrong in an article as the text and the repository show it, in the order of the lines. */
export async function proseFaults(source: string, path: string, tree: ArticleTree): Promise<ArticleFaults> {
  const facts = readArticle(source)
  const lines = source.split(/\r?\n/)
  const lineAt = (line: number) => lines[line - 1] ?? ''
  const links = await brokenLinks(facts, {
    path,
    lines,
    files: openLinkedFiles(tree.read),
    filesNamed: tree.filesNamed,
  })
  const found = [
    ...links.faults,
    ...skippedLevels(facts, lineAt),
    ...missingLanguages(facts, lineAt),
    ...doubledWords(facts, lineAt),
  ]
  return { faults: found.toSorted((one, other) => one.line - other.line), unjudged: links.unjudged }
}

type Around = Pick<ArticleTree, 'filesNamed'> & { path: string; lines: readonly string[]; files: LinkedFiles }

/** Of one article. Links to the same target count once; for broken ones beyond `maxMeant` no other target is looked for. */
const maxJudged = 1_000
const maxMeant = 200
const maxLinkedCharacters = 2_000_000

async function brokenLinks({ links, prose }: ArticleFacts, around: Around): Promise<ArticleFaults> {
  const { path, lines, files } = around
  const found: ArticleFaults = { faults: [], unjudged: [] }
  const lastLines = new Map(prose.toReversed().map(({ first, last }) => [first, last]))
  let [judged, broken] = [0, 0]
  for (const [link, same] of Map.groupBy(links, ({ target }) => target)) {
    const target = judgedTarget(link, path)
    if (target === undefined) continue
    const firstLines = [...new Set(same.map(({ line }) => line))]
    const isJudged = judged < maxJudged && files.characters() < maxLinkedCharacters
    if (!isJudged) found.unjudged.push(...firstLines.map((first) => lineWith(link, lines, first, lastLines.get(first))))
    if (!isJudged) continue
    judged += 1
    const why = await reasonBroken(target, files)
    if (why === undefined) continue
    broken += 1
    const meant = broken > maxMeant ? undefined : await linkMeant(link, target, around)
    for (const first of firstLines) {
      const line = lineWith(link, lines, first, lastLines.get(first))
      const text = lines[line - 1] ?? ''
      const mended = meant === undefined ? text : text.replaceAll(`](${link}`, `](${meant}`)
      const message = `the link ${link} is broken: ${why}${broken > maxMeant ? '; no other target was looked for' : ''}`
      found.faults.push({ kind: 'broken_link', line, message, ...(mended !== text && { mended }) })
    }
  }
  return found
}

function lineWith(target: string, lines: readonly string[], first: number, last = first): number {
  const at = lines.slice(first - 1, last).findIndex((text) => text.includes(`](${target}`))
  return first + Math.max(0, at)
}

async function linkMeant(
  link: string,
  target: Target,
  { path, files, filesNamed }: Around,
): Promise<string | undefined> {
  const there = await files.at(target.path)
  if (there !== undefined) {
    const anchor = anchorMeant(target.anchor, (await there.anchors()) ?? new Set())
    return anchor === undefined ? undefined : `${link.slice(0, link.indexOf('#'))}#${anchor}`
  }
  const [only, ...others] = filesNamed(target.path.slice(target.path.lastIndexOf('/') + 1))
  if (only === undefined || others.length > 0) return undefined
  const anchor = link.includes('#') ? link.slice(link.indexOf('#')) : ''
  const moved = `${relativePath(only, folderOf(path))}${anchor}`
  const movedTo = judgedTarget(moved, path)
  return movedTo === undefined || (await reasonBroken(movedTo, files)) === undefined ? moved : undefined
}

function relativePath(to: string, folder: string): string {
  const [target, from] = [to.split('/'), folder.split('/').filter(Boolean)]
  let shared = 0
  while (shared < from.length && from[shared] === target[shared]) shared++
  return [...from.slice(shared).map(() => '..'), ...target.slice(shared)].join('/')
}

function skippedLevels({ headings }: ArticleFacts, lineAt: (line: number) => string): ProseFault[] {
  return headings.flatMap(({ level, text, line }, at): ProseFault[] => {
    const above = headings[at - 1]?.level ?? level
    if (level <= above + 1) return []
    const message = `the heading ${JSON.stringify(text)} skips from level ${above} to ${level}`
    const mended = lineAt(line).replace(/^( {0,3})#+/, `$1${'#'.repeat(above + 1)}`)
    return [{ kind: 'skipped_level', line, message, ...(mended !== lineAt(line) && { mended }) }]
  })
}

function missingLanguages({ code }: ArticleFacts, lineAt: (line: number) => string): ProseFault[] {
  return code.flatMap(({ text, info, line }): ProseFault[] => {
    const language = info === '' ? evidentLanguage(text) : undefined
    if (language === undefined) return []
    return [
      {
        kind: 'no_language',
        line,
        message: `the code block is ${language} and does not say so`,
        mended: `${lineAt(line).trimEnd()}${language}`,
      },
    ]
  })
}

/** Only what cannot be anything else. */
function evidentLanguage(text: string): string | undefined {
  const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (typeof value === 'object' && value !== null) return 'json'
  if (/^\$ \S/.test(text)) return 'console'
  if (/^#!.*\b(?:ba)?sh\b/.test(text)) return 'sh'
  if (/^#!.*\bpython/.test(text)) return 'python'
  if (/^(?:diff --git |--- \S+\n\+\+\+ )/.test(text)) return 'diff'
  return text.startsWith('<?xml ') ? 'xml' : undefined
}

/** Words that are never meant twice in a row. */
const doubled =
  /(?<![\p{L}\p{N}_-])(the|a|an|of|to|in|and|for|with|is|are|on|as|at|by|from|or|this|be)([ \t]+)\1(?![\p{L}\p{N}_-])/iu

function doubledWords({ prose }: ArticleFacts, lineAt: (line: number) => string): ProseFault[] {
  return prose.flatMap(({ text, first, last }): ProseFault[] => {
    if (!doubled.test(text)) return []
    for (let line = first; line <= last; line++) {
      const found = doubled.exec(proseOf(lineAt(line)))
      if (found === null) continue
      const [whole, word = ''] = found
      const mended = `${lineAt(line).slice(0, found.index)}${word}${lineAt(line).slice(found.index + whole.length)}`
      return [{ kind: 'doubled_word', line, message: `"${word}" is there twice`, mended }]
    }
    return []
  })
}

/** A line with its code, targets of links and HTML blotted out, and of the same length. Bounded like the patterns of `slugOf`. */
function proseOf(line: string): string {
  return line.replaceAll(/`+[^`]*`+|\]\([^)\]]{0,1000}\)|<[^<>]{0,1000}>/g, (part) => '\u0000'.repeat(part.length))
}
