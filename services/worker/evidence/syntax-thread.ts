/** Entry of the thread that parses texts of languages other than Python. */
import type { Tree } from 'web-tree-sitter'
import { describeDefinition, insertComment } from '#doc-comments/doc-comments.ts'
import { docLanguageOf } from '#doc-comments/doc-language.ts'
import { fileDocs } from '#doc-comments/file-docs.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import { codeAndComments } from './code-and-comments.ts'
import { syntaxFaultsOf, type SyntaxFacts } from './parses.ts'
import type { ThreadQuestion, ThreadReport } from './syntax-evidence.ts'

function factsOf(tree: Tree, text: string, language: string): SyntaxFacts {
  const docLanguage = docLanguageOf(language)
  const docs = docLanguage === undefined ? [] : fileDocs(tree, text, docLanguage)
  return { faults: syntaxFaultsOf(tree), ...codeAndComments(tree, text), docs }
}

answerRequests<ThreadQuestion, ThreadReport>(async (question, begin) => {
  begin(0)
  const language = 'of' in question ? question.of.language : question.language
  const loaded = await loadLanguage(language)
  begin(0)
  if (!('of' in question)) {
    return { facts: loaded.read(question.text, (tree) => factsOf(tree, question.text, language)) }
  }
  const { of } = question
  return loaded.read(of.source, (tree) =>
    'docstring' in question
      ? { inserted: insertComment(tree, { ...of, docstring: question.docstring }) }
      : { described: describeDefinition(tree, of) },
  )
})
