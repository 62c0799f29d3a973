/** Entry of the thread that parses texts of languages other than Python and compares them, and parses test files and mutants of any language. */
import { describeDefinition, insertComment } from '#languages/comments/doc-comments.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import { openSyntaxComparer } from './compare-syntax.ts'
import { mutantsOf } from './mutants.ts'
import { syntaxFaultsOf } from './parses.ts'
import { openScriptChecks } from './javascript/script-evidence.ts'
import type { SyntaxQuestion, SyntaxReport } from './syntax-evidence.ts'
import { definitionsOf, testFunctionsOf } from './test-functions.ts'

const checkScript = openScriptChecks()
const compare = openSyntaxComparer()

answerRequests<SyntaxQuestion, SyntaxReport>(async (question, begin) => {
  begin(0)
  if (question.want === 'check' || question.want === 'verdicts') {
    const loaded = await loadLanguage(question.of.language)
    begin(0)
    if (question.want === 'verdicts') return { found: 'verdicts', verdicts: compare(question.of, loaded) }
    return { found: 'result', result: checkScript(question.of, loaded) }
  }
  const { language, text } = 'of' in question ? { ...question.of, text: question.of.source } : question
  const loaded = await loadLanguage(language)
  begin(0)
  return loaded.read(text, (tree): SyntaxReport => {
    switch (question.want) {
      case 'faults':
        return { found: 'faults', faults: syntaxFaultsOf(tree) }
      case 'tests':
        return { found: 'tests', tests: testFunctionsOf(tree, language) }
      case 'definitions':
        return { found: 'definitions', definitions: definitionsOf(tree) }
      case 'mutants':
        return { found: 'mutants', mutants: mutantsOf(tree, question) }
      case 'description':
        return { found: 'description', description: describeDefinition(tree, question.of) }
      case 'insertion':
        return { found: 'insertion', insertion: insertComment(tree, { ...question.of, docstring: question.docstring }) }
    }
  })
})
