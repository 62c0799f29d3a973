import { LRUCache } from 'lru-cache'
import type { EvidenceCheck } from '#domain/checks.ts'
import type { TextStyle } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { directive } from '#languages/comments/comment-text.ts'
import { linesOf } from '#platform/changed-ranges.ts'
import { bodiesKept } from '../bodies-kept.ts'
import { commentsKept } from '../comments-kept.ts'
import { evaluationsIn, scriptEvaluations } from '../evaluations.ts'
import { lineLengthKept } from '../line-length.ts'
import { operandsKept } from '../operands-kept.ts'
import { type CheckResult, comparedTexts, once } from '../python-facts.ts'
import { type KnownParts, readStatements, type Statement } from '../statements.ts'
import { scriptNamesOf } from './script-bindings.ts'
import { scriptImportsKept, scriptNamesKept } from './script-names-kept.ts'
import { scriptStatements } from './script-statements.ts'

type Compared = ReturnType<typeof compared>

const scriptChecks = {
  comments_kept: (facts) => commentsKept(facts, directive),
  names_kept: ({ names }) => scriptNamesKept(names()),
  needed_imports_kept: ({ names }, { language }) => scriptImportsKept(names(), { isTyped: language !== 'javascript' }),
  line_length: (facts, { limits }) => lineLengthKept(facts, limits),
  bodies_kept: (facts) => bodiesKept(facts),
  operands_kept: (facts) => operandsKept(facts),
} as const satisfies Partial<Record<EvidenceCheck, CompareScripts>>
type CompareScripts = (facts: Compared, of: Pick<ScriptQuestion, 'language' | 'limits'>) => CheckResult
type ScriptCheck = keyof typeof scriptChecks

export function isScriptCheck(check: EvidenceCheck): check is ScriptCheck {
  return Object.hasOwn(scriptChecks, check)
}

const scriptLanguages = ['javascript', 'typescript', 'tsx'] as const
export type ScriptLanguage = (typeof scriptLanguages)[number]

export function isScriptLanguage(language: string | undefined): language is ScriptLanguage {
  return scriptLanguages.some((one) => one === language)
}

/** In characters of text; facts take some 27 times as much memory. */
const cachedLength = 1_000_000
const cachedTexts = 200

/** A change of a text and the check to make of it. Plain data: it is sent to the thread that parses. */
export type ScriptQuestion = {
  check: ScriptCheck
  before: string | undefined
  after: string
  language: ScriptLanguage
  limits: TextStyle
}

/** Makes the checks of JavaScript and TypeScript by statements, as Python's, and caches what it reads of a text. Only a thread may call it: it parses. */
export function openScriptChecks() {
  const cache = new LRUCache<string, ScriptFacts>({
    max: cachedTexts,
    maxSize: cachedLength,
    sizeCalculation: (_facts, key) => Math.min(key.length, cachedLength),
  })
  return ({ before = '', after, ...question }: ScriptQuestion, loaded: Pick<LoadedLanguage, 'read'>): CheckResult => {
    const factsOf = (text: string) => getOrMake(cache, `${question.language} ${text}`, () => scriptFacts(text, loaded))
    return scriptChecks[question.check](compared(factsOf(before), factsOf(after)), question)
  }
}

type ScriptFacts = ReturnType<typeof scriptFacts>

function scriptFacts(text: string, loaded: Pick<LoadedLanguage, 'read'>) {
  let statements: ReturnType<typeof readStatements> | undefined
  return {
    list: (known?: KnownParts) =>
      (statements ??= loaded.read(text, (tree) => readStatements(tree, text, known, scriptStatements))),
    evaluations: (statement: Statement) =>
      loaded.read(text, (tree) => evaluationsIn(tree, statement, scriptEvaluations)),
    names: once(() => loaded.read(text, scriptNamesOf)),
    lines: once(() => linesOf(text)),
    docstringRows: () => new Set<number>(),
  }
}

function compared(before: ScriptFacts, now: ScriptFacts) {
  return { ...comparedTexts(before, now), names: () => ({ before: before.names(), after: now.names() }) }
}
