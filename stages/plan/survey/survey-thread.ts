/**
 * Entry of a survey thread, which runs the grammars. Nothing is caught: a text may leave the
 * parser damaged, so the thread dies, and the next file gets a new one.
 */
import type { Tree } from 'web-tree-sitter'
import { docFactsOf } from '#languages/comments/doc-facts.ts'
import { type JudgedFault, judgeFixes } from '#languages/python/lint/fixable-faults.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import { byteOffsets } from '#languages/python/python-file.ts'
import { docstringFactsOf } from '#languages/python/docstring-facts.ts'
import { moduleTypesOf } from '#languages/python/module-types.ts'
import { moduleUsesInText, moduleUsesOf } from '#languages/python/module-uses.ts'
import { loadLanguage, type LoadedLanguage } from '#languages/syntax/parser.ts'
import type {
  LintFault,
  PythonQuestion,
  LintedQuestion,
  SurveyedFile,
  SurveyQuestion,
  SurveyReport,
} from './survey-pool.ts'

function surveyFile(
  { path, text, diagnostics, ownModules, wantsTypes }: PythonQuestion,
  python: LoadedLanguage,
): SurveyedFile {
  const tree = python.parse(text)
  try {
    return {
      faults: placedFaults(judgeFixes(diagnostics, { path, text, ownModules }, python), text, tree),
      docstrings: docstringFactsOf(tree, text, path),
      uses: moduleUsesOf(tree, text),
      ...(wantsTypes === true && { types: moduleTypesOf(tree, python) }),
    }
  } finally {
    tree.delete()
  }
}

/** A longer statement is not shown to an agent as the context of a fault. */
const maxContextLines = 40

function placedFaults(judged: readonly JudgedFault[], text: string, tree: Tree): LintFault[] {
  const byteOf = byteOffsets(text)
  return judged
    .toSorted((one, other) => one.fault.start - other.fault.start)
    .map(({ fault, mustStay, removes, offers }) => {
      const { code, message, line, start, end, fix = [] } = fault
      const touched = mustStay === undefined ? [{ start, end }, ...fix] : [{ start, end }]
      const context = contextOf(tree, { start, end })
      return {
        code,
        message,
        line,
        startByte: byteOf(start),
        endByte: byteOf(end),
        fixStartByte: byteOf(Math.min(...touched.map((range) => range.start))),
        fixEndByte: byteOf(Math.max(...touched.map((range) => range.end))),
        contextStartByte: byteOf(context.start),
        contextEndByte: byteOf(context.end),
        isFixable: fault.fix !== undefined && mustStay === undefined,
        ...(mustStay === undefined ? {} : { mustStay }),
        ...(fault.withheld === undefined ? {} : { withheld: fault.withheld }),
        ...(removes.length === 0 ? {} : { removes, offers }),
      }
    })
}

/** The largest statement around a range that is short enough to be shown, else the range itself. */
function contextOf(tree: Tree, range: { start: number; end: number }): { start: number; end: number } {
  let node = tree.rootNode.descendantForIndex(range.start, Math.max(range.start, range.end - 1))
  let found = range
  for (; node !== null && node.parent !== null; node = node.parent) {
    const lines = node.endPosition.row - node.startPosition.row + 1
    if (lines > maxContextLines) break
    if (/_(statement|definition|declaration)$/.test(node.type)) found = { start: node.startIndex, end: node.endIndex }
  }
  return { start: Math.min(found.start, range.start), end: Math.max(found.end, range.end) }
}

async function faultsOfLinted({ linted: { language, text, diagnostics } }: LintedQuestion): Promise<LintFault[]> {
  const judged = diagnostics.map((fault) => ({ fault, mustStay: fault.mustStay, removes: [], offers: [] }))
  return (await loadLanguage(language)).read(text, (tree) => placedFaults(judged, text, tree))
}

answerRequests<SurveyQuestion, SurveyReport>(async (question, begin) => {
  begin(0)
  if ('docs' in question) {
    const { source, language } = question.docs
    const { parse } = await loadLanguage(language)
    begin(0)
    const tree = parse(source)
    try {
      return docFactsOf(tree, question.docs)
    } finally {
      tree.delete()
    }
  }
  if ('linted' in question) return { placedFaults: await faultsOfLinted(question) }
  const python = await loadLanguage('python')
  begin(0)
  return 'namingText' in question ? { uses: moduleUsesInText(question.namingText) } : surveyFile(question, python)
})
