import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path/posix'
import {
  type CommentVotes,
  type DefinitionFacts,
  type FileDocFacts,
  noCommentVotes,
} from '#languages/comments/doc-facts.ts'
import { docLanguageOf } from '#languages/comments/doc-language.ts'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { defaultTextStyle, type TextStyle } from '#domain/path-rules.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { type DocstringScope, docstringScopes, outsideOfScope } from '#languages/python/docstring-survey.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import { type SurveyedRepository, type SurveyRule, type WorkFinder, workUnless } from '#stages/plan/survey-rule.ts'
import type { Survey } from '#stages/plan/survey/survey-repository.ts'
import { isRecord } from '#domain/json.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { lengthOf, readConfigTree, type ConfigFile } from '#languages/lint/configuration/config-tree.ts'
import { readEditorConfig } from '#languages/lint/configuration/editorconfig.ts'
import { parseJsonWithComments } from '#platform/json-with-comments.ts'
import { readToml } from '#platform/toml-source.ts'
import { readYaml } from '#platform/yaml-source.ts'

/** There is work on definitions without a docstring, in the scope that the bundle's settings name. */
export const noDocstring: SurveyRule = {
  async open({ survey, repository }, takes) {
    const taken = (repository?.nodes ?? []).filter((node) => docLanguageOf(node.language) !== undefined && takes(node))
    const comments = repository && taken.length > 0 ? await surveyDocComments(taken, repository) : undefined
    return (file) => ({ find: docstringWork(file, survey, comments), styles: comments?.styles })
  },
}

function docstringWork(
  { settings }: AgentBundle['file'],
  survey: Survey | undefined,
  comments: CommentSurvey | undefined,
): WorkFinder {
  const scope = docstringScopes.find((known) => known === settings['scope']?.default) ?? 'public'
  return ({ path, startByte, language }) => {
    if (language !== 'python') {
      return comments === undefined || docLanguageOf(language) === undefined
        ? workUnless('there is no form of doc comments for its language')
        : workUnless(comments.reasonToSkip(path, startByte, scope))
    }
    if (survey === undefined) return workUnless(undefined)
    const { docstrings, rules, unlinted } = survey
    // The survey has rules for all files that it could read.
    if (!Object.hasOwn(rules.files, path)) return workUnless(unlinted.get(path) ?? 'it is no Python file')
    return workUnless(docstrings.reasonToSkip(path, startByte, scope))
  }
}

type CommentedNode = Pick<CodeNode, 'path' | 'language' | 'startByte' | 'endByte'>

export type CommentSurvey = {
  styles: ReadonlyMap<string, TextStyle>
  reasonToSkip(path: string, startByte: number, scope: DocstringScope): string | undefined
}

const atOnce = 4
const maxFileBytes = 4_000_000

/** Reads each file with definitions that may get a doc comment once, in threads; others only for their formatters' line lengths. */
export async function surveyDocComments(
  nodes: readonly CommentedNode[],
  { files: listFiles, read, surveys, signal }: Omit<SurveyedRepository, 'nodes'>,
): Promise<CommentSurvey> {
  const files = await listFiles()
  const commented = Map.groupBy(nodes, ({ path }) => path)
  const facts = new Map<string, FileDocFacts>()
  const unread = new Map<string, string>()
  const texts = files.filter(({ path, size }) => (isFormatConfig(path) || isTypeConfig(path)) && size <= maxFileBytes)
  const configs = await mapBounded(texts, atOnce, async ({ path, hash }) => {
    return { path, text: Buffer.from(await read(hash)).toString() }
  })
  const wanted = files.filter(({ path }) => commented.has(path))
  await mapBounded(wanted, surveys.threads * atOnce, async ({ path, hash, size }) => {
    signal.throwIfAborted()
    const bytes = size > maxFileBytes ? undefined : Buffer.from(await read(hash))
    if (bytes === undefined) return void unread.set(path, 'its file is too large')
    if (!isUtf8(bytes)) return void unread.set(path, 'its file is not UTF-8')
    const own = commented.get(path) ?? []
    const places = own.map(({ startByte, endByte }) => ({ startByte, endByte }))
    const docs = { source: bytes.toString(), language: languageIn(own), nodes: places }
    const answer = await surveys.docsIn({ docs })
    if ('unreadable' in answer) unread.set(path, `its file cannot be read: ${answer.unreadable}`)
    else facts.set(path, answer)
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
      const definition = places.get(path)?.get(startByte)
      if (definition === undefined) return 'is nothing that a doc comment is written for'
      if (definition.hasDoc) return 'has a docstring'
      return outsideOfScope(path, definition, scope) ?? isWaived(path) ?? definition.exempt
    },
  }
}

function languageIn([first]: readonly CommentedNode[] = []): string {
  return first?.language ?? ''
}

function byStart(definitions: readonly DefinitionFacts[]): Map<number, DefinitionFacts> {
  return new Map(definitions.map((definition) => [definition.startByte, definition]))
}

function isTypeConfig(path: string): boolean {
  return /(?:^|\/)[jt]sconfig[^/]*\.json$/.test(path)
}

function openWaivers(files: readonly SourceFile[], configs: readonly { text: string }[]) {
  const paths = new Set(files.map(({ path }) => path))
  const readsTypes = configs.some(({ text }) => /"checkJs"\s*:\s*true/.test(text))
  return (path: string): string | undefined => {
    if (/\.d\.[cm]?ts$/.test(path)) return 'needs no docstring: it is in a declaration file'
    const [, stem, ending] = /^(.*)\.([cm]?)jsx?$/.exec(path) ?? []
    if (stem === undefined) return undefined
    if ([`${stem}.d.${ending ?? ''}ts`, `${stem}.d.ts`].some((beside) => paths.has(beside)))
      return 'needs no docstring: a declaration file beside it describes it'
    return readsTypes ? 'is left alone: TypeScript takes types from its comments (checkJs)' : undefined
  }
}

function stylesOf(
  facts: ReadonlyMap<string, FileDocFacts>,
  commented: ReadonlyMap<string, readonly CommentedNode[]>,
  widthOf: ReturnType<typeof lineLengths>,
): Map<string, TextStyle> {
  const votes = new Map<string, CommentVotes>()
  const styleName = (path: string) => docLanguageOf(languageIn(commented.get(path)))?.style ?? ''
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
      const language = languageIn(commented.get(path))
      const { typed, untyped, dash, noDash, oneLine, manyLines } = votes.get(styleName(path)) ?? noCommentVotes
      const lineLength = widthOf(path, language) ?? docLanguageOf(language)?.lineLength ?? defaultTextStyle.lineLength
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

const prettierNames = /^(?:package\.json|\.prettierrc(?:\.(?:json5?|ya?ml|toml))?)$/
const biomeNames = /^biome\.jsonc?$/
const rustNames = /^\.?rustfmt\.toml$/
const scriptLanguages = new Set(['typescript', 'tsx', 'javascript'])
const prettierWidth = 80

function isFormatConfig(path: string): boolean {
  const name = basename(path)
  return name === '.editorconfig' || [prettierNames, biomeNames, rustNames].some((names) => names.test(name))
}

/** Returns the line length by the nearest formatter's configuration, else by `.editorconfig`. Configurations that are programs are not run. */
function lineLengths(files: readonly ConfigFile[]): (path: string, language: string) => number | undefined {
  const editor = readEditorConfig(
    readConfigTree(
      files.filter(({ path }) => basename(path) === '.editorconfig'),
      () => {},
    ),
  )
  const scripts = new Map<string, number>()
  const rust = new Map<string, number>()
  for (const { path, text } of files) {
    const width = rustNames.test(basename(path)) ? undefined : scriptWidth(path, text)
    if (width !== undefined) scripts.set(folderOf(path), Math.min(width, scripts.get(folderOf(path)) ?? width))
    const rustWidth = rustNames.test(basename(path)) ? lengthOf(tableOf(text, 'toml')['max_width']) : undefined
    if (rustWidth !== undefined) rust.set(folderOf(path), rustWidth)
  }
  return (path, language) => {
    const folder = folderOf(path)
    const known = scriptLanguages.has(language) ? scripts : language === 'rust' ? rust : undefined
    const configured = foldersUp(folder).flatMap((above) => known?.get(above) ?? [])[0]
    return configured ?? lengthOf(Number(editor(folder)?.(path).get('max_line_length')))
  }
}

function scriptWidth(path: string, text: string): number | undefined {
  const name = basename(path)
  if (biomeNames.test(name)) {
    const formatter = tableOf(text, 'json')['formatter']
    return isRecord(formatter) ? lengthOf(formatter['lineWidth']) : undefined
  }
  if (!prettierNames.test(name)) return undefined
  const table = tableOf(text, name.endsWith('.toml') ? 'toml' : /\.ya?ml$/.test(name) ? 'yaml' : 'json')
  const own = name === 'package.json' ? table['prettier'] : table
  return isRecord(own) ? (lengthOf(own['printWidth']) ?? prettierWidth) : undefined
}

function tableOf(text: string, form: 'toml' | 'yaml' | 'json'): Record<string, unknown> {
  const value = form === 'toml' ? tomlOf(text) : form === 'json' ? jsonOf(text) : readYaml(text).value
  return isRecord(value) ? value : {}
}

function tomlOf(text: string): unknown {
  const read = readToml(text)
  return 'table' in read ? read.table : undefined
}

/** YAML reads most of JSON5. */
function jsonOf(text: string): unknown {
  try {
    return parseJsonWithComments(text)
  } catch {
    return readYaml(text).value
  }
}
