/** Entry of the thread that parses texts of languages other than Python, and test files and mutants of any language. */
import { loadLanguage } from '#syntax/parser.ts'
import { mutantsOf } from './mutants.ts'
import { syntaxFactsOf } from './parses.ts'
import type { SyntaxQuestion, SyntaxReport } from './syntax-evidence.ts'
import { definitionsOf, testFunctionsOf } from './test-functions.ts'
import { answerRequests } from '#platform/thread-entry.ts'

answerRequests<SyntaxQuestion, SyntaxReport>(async (question, begin) => {
  const { language, text } = question
  begin(0)
  const loaded = await loadLanguage(language)
  begin(0)
  return loaded.read(text, (tree): SyntaxReport => {
    switch (question.want) {
      case 'facts':
        return { found: 'facts', facts: syntaxFactsOf(tree) }
      case 'tests':
        return { found: 'tests', tests: testFunctionsOf(tree, language) }
      case 'definitions':
        return { found: 'definitions', definitions: definitionsOf(tree) }
      case 'mutants':
        return { found: 'mutants', mutants: mutantsOf(tree, question) }
    }
  })
})
