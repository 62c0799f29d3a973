import type { CodeNode } from '#domain/code-node.ts'
import { surveyArticle, type SurveyedArticle, lastOwnLine } from '#markdown/article-survey.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { nextTurn } from '#platform/clock.ts'
import type { SourceFile } from '../discover/choose-files.ts'

export type ArticleSurvey = {
  /** Why a section needs no mending, or a file no summary, in words that follow its name. */
  reasonNotToMend(node: CodeNode): string | undefined
  reasonForNoSummary(node: CodeNode, minWords: number): string | undefined
}

export type ArticlesInput = {
  files: readonly SourceFile[]
  /** Markdown files in which agents look for work. */
  paths: ReadonlySet<string>
  read(hash: string): Promise<Uint8Array>
}

/** The lines of a file begin at these bytes. */
type Article = SurveyedArticle & { lineStarts: readonly number[] }

const tooLong = 'is in a file that is too long to be read'

/** Reads the articles one by one. One takes milliseconds, the worst of a readable length seconds; between two the loop gets its turn. */
export async function surveyArticles(input: ArticlesInput, signal: AbortSignal): Promise<ArticleSurvey> {
  const byPath = new Map(input.files.map((file) => [file.path, file]))
  const byName = new Map<string, string[]>()
  for (const { path } of input.files) getOrMake(byName, path.slice(path.lastIndexOf('/') + 1), () => []).push(path)
  const textOf = async (path: string) => {
    const file = byPath.get(path)
    return file && Buffer.from(await input.read(file.hash))
  }
  const tree = {
    read: async (path: string) => (await textOf(path))?.toString(),
    filesNamed: (name: string) => byName.get(name) ?? [],
  }
  const articles = new Map<string, Article>()
  for (const path of input.paths) {
    await nextTurn()
    signal.throwIfAborted()
    const bytes = await textOf(path)
    const found = bytes && (await surveyArticle(bytes.toString(), path, tree))
    if (bytes !== undefined && found !== undefined) articles.set(path, { ...found, lineStarts: lineStartsOf(bytes) })
  }
  return {
    reasonNotToMend({ path, startByte, endByte }) {
      const article = articles.get(path)
      if (article === undefined) return tooLong
      const { faultLines, unjudged, headingLines, lineStarts } = article
      const first = lineAt(lineStarts, startByte)
      const last = lastOwnLine(first, lineAt(lineStarts, Math.max(startByte, endByte - 1)), headingLines)
      const isOwn = (line: number) => line >= first && line <= last
      if (faultLines.some(isOwn)) return undefined
      return `has no fault that shows${unjudged.some(isOwn) ? ', but more links than are judged in a file' : ''}`
    },
    reasonForNoSummary({ path }, minWords) {
      const article = articles.get(path)
      if (article === undefined) return tooLong
      return article.needsNoSummary ?? (article.words < minWords ? `has fewer than ${minWords} words` : undefined)
    },
  }
}

function lineStartsOf(bytes: Uint8Array): number[] {
  const starts = [0]
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) starts.push(at + 1)
  return starts
}

function lineAt(starts: readonly number[], byte: number): number {
  const after = starts.findIndex((start) => start > byte)
  return after < 0 ? starts.length : after
}
