import type { Evidence } from '#domain/change-set.ts'
import { faultOfWording } from '#markdown/article-kept.ts'
import { faultOfInsertion } from '#markdown/article-summary.ts'
import { judgedTarget, openLinkedFiles, reasonBroken } from '#markdown/broken-links.ts'
import { maxArticleCharacters } from '#markdown/read-article.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { ReadFile } from './samples-match.ts'

export type ProseCheck = 'prose_kept' | 'summary_only'

type ProseFile = { path: string; before: string | undefined; after: string; readFile?: ReadFile }

/** `prose_kept`: only the wording of a Markdown file has changed; `summary_only`: it got a summary, and is the same otherwise. */
export async function proseEvidence(
  check: ProseCheck,
  { path, before, after, readFile }: ProseFile,
): Promise<Evidence> {
  const proof = { check, path, tool: 'markdown-it' }
  if (languageOf(path) !== 'markdown') {
    return {
      check: 'not_checked',
      of: check,
      path,
      ok: true,
      tool: 'none',
      detail: 'there is no such check for files that are not Markdown',
    }
  }
  if (before === undefined) return { ...proof, ok: false, detail: 'the file is new' }
  if (Math.max(before.length, after.length) > maxArticleCharacters) {
    return { ...proof, ok: false, detail: `the file is larger than ${maxArticleCharacters} characters` }
  }
  const fault =
    check === 'summary_only'
      ? faultOfInsertion(before, after)
      : await faultOfWording(before, after, brokenIn({ path, before, after, ...(readFile && { readFile }) }))
  return { ...proof, ok: fault === undefined, ...(fault !== undefined && { detail: fault }) }
}

/** Tells whether a link is broken. Without the other files no link counts as broken, so none may change. */
function brokenIn({ path, after, readFile }: ProseFile): (target: string) => Promise<boolean> {
  const read: ReadFile = async (asked) => (asked === path ? after : readFile?.(asked))
  const files = openLinkedFiles(read)
  return async (link) => {
    const target = judgedTarget(link, path)
    return readFile !== undefined && target !== undefined && (await reasonBroken(target, files)) !== undefined
  }
}
