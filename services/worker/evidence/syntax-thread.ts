/** Entry of the thread that parses texts of languages other than Python. */
import { loadLanguage } from '#syntax/parser.ts'
import { type SyntaxFacts, syntaxFactsOf } from './parses.ts'
import type { SyntaxQuestion } from './syntax-evidence.ts'
import { answerRequests } from '#platform/thread-entry.ts'

answerRequests<SyntaxQuestion, SyntaxFacts>(async ({ language, text }, begin) => {
  begin(0)
  const loaded = await loadLanguage(language)
  begin(0)
  return loaded.read(text, syntaxFactsOf)
})
