/**
 * Entry of a surveying thread: Ruff and the Python grammar. It answers each file with what planning needs to know of it, and
 * any other text with the names it uses of modules.
 * Nothing is caught: a text may leave Ruff or the parser damaged, so the thread dies, and the next file gets a new one.
 */
import { parentPort } from 'node:worker_threads'
import type { Tree } from 'web-tree-sitter'
import type { LintRules } from '#domain/path-rules.ts'
import { judgeFixes } from '#lint/fixable-faults.ts'
import { lintText, ruffVersion } from '#lint/lint-text.ts'
import type { ThreadReply } from '#platform/thread-link.ts'
import { docstringFactsOf } from '#python/docstring-facts.ts'
import { moduleUsesInText, moduleUsesOf } from '#python/module-uses.ts'
import { loadLanguage, type LoadedLanguage } from '#syntax/parser.ts'
import type { LintFault, PythonQuestion, SurveyedFile, SurveyQuestion, SurveyReport } from './surveyed-file.ts'

const say = (reply: ThreadReply<SurveyReport>) => parentPort?.postMessage(reply)

/** In the order they came, also where the first of them waits for the grammar. */
let before: Promise<void> = Promise.resolve()

async function answer(question: SurveyQuestion): Promise<void> {
  if ('namingText' in question) say({ report: { uses: moduleUsesInText(question.namingText) } })
  else say({ report: surveyFile(question, await loadLanguage('python')) })
}

function surveyFile({ path, text, rules, ownModules }: PythonQuestion, python: LoadedLanguage): SurveyedFile {
  const tree = python.parse(text)
  try {
    return {
      faults: rules === null ? [] : lintFaults({ path, text, ownModules, rules }, { tree, python }),
      docstrings: docstringFactsOf(tree, text, path),
      uses: moduleUsesOf(tree, text),
    }
  } finally {
    tree.delete()
  }
}

/** Lines of a statement that an agent is shown for a fault at a module's own level. */
const maxContextLines = 40

function lintFaults(
  { rules, ...file }: PythonQuestion & { rules: LintRules },
  { tree, python }: { tree: Tree; python: LoadedLanguage },
): LintFault[] {
  const { diagnostics } = lintText({ text: file.text, rules })
  const byteOf = byteOffsets(file.text)
  return judgeFixes(diagnostics, file, python)
    .toSorted((one, other) => one.fault.start - other.fault.start)
    .map(({ fault, mustStay, removes }) => {
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
        ...(removes === undefined ? {} : { removes }),
      }
    })
}

/** The largest statement around a range that is short enough to be shown; the range itself where none is. */
function contextOf(tree: Tree, range: { start: number; end: number }): { start: number; end: number } {
  let node = tree.rootNode.descendantForIndex(range.start, Math.max(range.start, range.end - 1))
  let found = range
  for (; node !== null && node.parent !== null; node = node.parent) {
    const lines = node.endPosition.row - node.startPosition.row + 1
    if (lines > maxContextLines) break
    if (/_(statement|definition)$/.test(node.type)) found = { start: node.startIndex, end: node.endIndex }
  }
  return { start: Math.min(found.start, range.start), end: Math.max(found.end, range.end) }
}

/** Bytes before a UTF-16 index of `text`; equal for ASCII. Counted once: a file may have tens of thousands of faults. */
function byteOffsets(text: string): (index: number) => number {
  if (Buffer.byteLength(text) === text.length) return (index) => index
  const offsets = new Uint32Array(text.length + 1)
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    offsets[index] = bytes
    bytes += bytesOf(text.charCodeAt(index))
  }
  offsets[text.length] = bytes
  return (index) => offsets[index] ?? bytes
}

/** In UTF-8; each half of a surrogate pair counts for two of its four bytes. */
function bytesOf(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
}

say({ version: ruffVersion() })
parentPort?.on('message', (question: SurveyQuestion) => {
  before = before.then(() => answer(question))
})
