/**
 * Entry of a survey thread, which runs the grammars. Nothing is caught: a text may leave the
 * parser damaged, so the thread dies, and the next file gets a new one.
 */
import type { Tree } from 'web-tree-sitter'
import { docFactsOf } from '#languages/comments/doc-facts.ts'
import { type JudgedFault, judgeFixes } from '#languages/python/lint/fixable-faults.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import { byteOffsets } from '#languages/python/python-file.ts'
import { repositoryFactsOf } from '#languages/python/repository-facts.ts'
import { moduleTypesOf } from '#languages/python/module-types.ts'
import { moduleUsesInText } from '#languages/python/module-uses.ts'
import { loadLanguage, type LoadedLanguage } from '#languages/syntax/parser.ts'
import type {
  LintedQuestion,
  LintFault,
  PythonAnswer,
  PythonQuestion,
  SurveyQuestion,
  SurveyReport,
} from './survey-pool.ts'

function readPython({ text, wantsFacts, wantsTypes }: PythonQuestion['python'], python: LoadedLanguage): PythonAnswer {
  return python.read(text, (tree) => ({
    python: {
      ...(wantsFacts && { facts: repositoryFactsOf(tree, text) }),
      ...(wantsTypes && { types: moduleTypesOf(tree, python) }),
    },
  }))
}

function judged({ text, diagnostics, place }: LintedQuestion['linted'], loaded: LoadedLanguage): JudgedFault[] {
  if (place !== undefined) return judgeFixes(diagnostics, { text, ...place }, loaded)
  return diagnostics.map((fault) => ({ fault, mustStay: fault.mustStay, removes: [], offers: [] }))
}

/** A longer statement is not shown to an agent as the context of a fault. */
const maxContextLines = 40

function placedFaults(faults: readonly JudgedFault[], text: string, tree: Tree): LintFault[] {
  const byteOf = byteOffsets(text)
  return faults
    .toSorted((left, right) => left.fault.start - right.fault.start)
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
  const inner = tree.rootNode.descendantForIndex(range.start, Math.max(range.start, range.end - 1))
  if (inner === null) return range
  // From above: the parser finds the parent of a node by a search that begins at the root.
  for (let node = tree.rootNode.childWithDescendant(inner); node !== null; node = node.childWithDescendant(inner)) {
    const lines = node.endPosition.row - node.startPosition.row + 1
    if (lines > maxContextLines || !/_(statement|definition|declaration)$/.test(node.type)) continue
    return { start: Math.min(node.startIndex, range.start), end: Math.max(node.endIndex, range.end) }
  }
  return range
}

/** A text and what its fixes make of it are read several times, and no other again: the trees of a million characters would take 37 MB. */
const cachedLength = 300_000

answerRequests<SurveyQuestion, SurveyReport>(async (question, begin) => {
  begin(0)
  if ('docs' in question) {
    const { source, language } = question.docs
    const { read } = await loadLanguage(language, { cachedLength })
    begin(0)
    return read(source, (tree) => docFactsOf(tree, question.docs))
  }
  if ('linted' in question) {
    const { language, text } = question.linted
    const loaded = await loadLanguage(language, { cachedLength })
    begin(0)
    const faults = judged(question.linted, loaded)
    return { placedFaults: loaded.read(text, (tree) => placedFaults(faults, text, tree)) }
  }
  const python = await loadLanguage('python', { cachedLength })
  begin(0)
  return 'namingText' in question
    ? { uses: moduleUsesInText(question.namingText) }
    : readPython(question.python, python)
})
