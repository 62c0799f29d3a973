import { isUtf8 } from 'node:buffer'
import type { CommentVotes, DefinitionFacts, FileDocFacts, NodeBytes } from '#languages/comments/doc-facts.ts'
import { noCommentVotes } from '#languages/comments/doc-facts.ts'
import { docLanguageOf } from '#languages/comments/doc-language.ts'
import { defaultTextStyle, type TextStyle } from '#domain/path-rules.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import { type DocstringScope, outsideOfScope } from '#languages/python/docstring-survey.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import { isFormatConfig, lineLengths } from './comment-style.ts'
import type { SurveyPool } from './survey-pool.ts'

/** The files whose definitions may get a doc comment, with their language and nodes. */
export type CommentedFiles = ReadonlyMap<string, { language: string; nodes: readonly NodeBytes[] }>

/** Holds what files of other languages than Python say about doc comments. */
export type CommentSurvey = {
  /** Holds the style of every file that was read. */
  styles: ReadonlyMap<string, TextStyle>
  /** Answers as `DocstringSurvey.reasonToSkip` does. */
  reasonToSkip(path: string, startByte: number, scope: DocstringScope): string | undefined
}

type Input = {
  files: readonly SourceFile[]
  commented: CommentedFiles
  read(hash: string): Promise<Uint8Array>
}

const atOnce = 4
const maxFileBytes = 4_000_000

/**
 * Reads the files with definitions that may get a doc comment, each once, in threads: which of these have one, and how those that
 * are there are written. Other files are only read for their formatters' line lengths.
 */
export async function surveyDocComments(
  { files, commented, read }: Input,
  { surveys }: { surveys: SurveyPool },
  signal: AbortSignal,
): Promise<CommentSurvey> {
  const facts = new Map<string, FileDocFacts>()
  const unread = new Map<string, string>()
  const texts = files.filter(({ path, size }) => (isFormatConfig(path) || isTypeConfig(path)) && size <= maxFileBytes)
  const configs = await mapBounded(texts, atOnce, async ({ path, hash }) => {
    return { path, text: Buffer.from(await read(hash)).toString() }
  })
  const wanted = files.flatMap((file) => {
    const of = commented.get(file.path)
    return of === undefined ? [] : [{ file, of }]
  })
  await mapBounded(wanted, surveys.threads * atOnce, async ({ file: { path, hash, size }, of }) => {
    signal.throwIfAborted()
    const bytes = size > maxFileBytes ? undefined : Buffer.from(await read(hash))
    if (bytes === undefined) return void unread.set(path, 'its file is too large')
    if (!isUtf8(bytes)) return void unread.set(path, 'its file is not UTF-8')
    const found = await surveys.docsIn({ docs: { source: bytes.toString(), ...of } })
    if ('unreadable' in found) unread.set(path, `its file cannot be read: ${found.unreadable}`)
    else facts.set(path, found)
  })
  signal.throwIfAborted()
  const isWaived = openWaivers(
    files,
    configs.filter(({ path }) => isTypeConfig(path)),
  )
  const places = new Map([...facts].map(([path, { definitions }]) => [path, byStart(definitions)]))
  return {
    styles: stylesOf(facts, commented, lineLengths(configs.filter(({ path }) => isFormatConfig(path)))),
    reasonToSkip(path, startByte, scope) {
      const unreadable = unread.get(path)
      if (unreadable !== undefined) return unreadable
      const found = places.get(path)?.get(startByte)
      if (found === undefined) return 'is nothing that a doc comment is written for'
      if (found.hasDoc) return 'has a docstring'
      return outsideOfScope(path, found, scope) ?? isWaived(path) ?? found.exempt
    },
  }
}

function byStart(definitions: readonly DefinitionFacts[]): Map<number, DefinitionFacts> {
  return new Map(definitions.map((one) => [one.startByte, one]))
}

function isTypeConfig(path: string): boolean {
  return /(?:^|\/)[jt]sconfig[^/]*\.json$/.test(path)
}

/** Tells why all of a file gets no doc comment. */
function openWaivers(files: readonly SourceFile[], configs: readonly { text: string }[]) {
  const paths = new Set(files.map(({ path }) => path))
  const readsTypes = configs.some(({ text }) => /"checkJs"\s*:\s*true/.test(text))
  return (path: string): string | undefined => {
    if (/\.d\.[cm]?ts$/.test(path)) return 'needs no docstring: it is in a declaration file'
    const [, stem, ending] = /^(.*)\.([cm]?)jsx?$/.exec(path) ?? []
    if (stem === undefined) return undefined
    if ([`${stem}.d.${ending ?? ''}ts`, `${stem}.d.ts`].some((one) => paths.has(one)))
      return 'needs no docstring: a declaration file beside it describes it'
    return readsTypes ? 'is left alone: TypeScript takes types from its comments (checkJs)' : undefined
  }
}

/** Counts the votes of the whole repository for files of one style; a few more votes than none decide. */
function stylesOf(
  facts: ReadonlyMap<string, FileDocFacts>,
  commented: CommentedFiles,
  lengthOf: ReturnType<typeof lineLengths>,
): Map<string, TextStyle> {
  const votes = new Map<string, CommentVotes>()
  const styleName = (path: string) => docLanguageOf(commented.get(path)?.language ?? '')?.style ?? ''
  for (const [path, { votes: own }] of facts) {
    const sum = votes.get(styleName(path)) ?? noCommentVotes
    votes.set(styleName(path), {
      typed: sum.typed + own.typed,
      untyped: sum.untyped + own.untyped,
      dash: sum.dash + own.dash,
      noDash: sum.noDash + own.noDash,
      oneLine: sum.oneLine + own.oneLine,
      manyLines: sum.manyLines + own.manyLines,
    })
  }
  return new Map(
    [...facts.keys()].map((path) => {
      const { language = '' } = commented.get(path) ?? {}
      const { typed, untyped, dash, noDash, oneLine, manyLines } = votes.get(styleName(path)) ?? noCommentVotes
      const lineLength = lengthOf(path, language) ?? docLanguageOf(language)?.lineLength ?? defaultTextStyle.lineLength
      return [
        path,
        {
          ...defaultTextStyle,
          lineLength,
          docstringTypes: typed > untyped,
          docstringDash: dash >= noDash,
          docstringSummary: oneLine >= manyLines ? 'first_line' : 'second_line',
        },
      ]
    }),
  )
}
