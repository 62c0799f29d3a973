/** Entry of the thread that looks for regular expressions. */
import { answerRequests } from '#platform/thread-entry.ts'
import { type ExpressionSearch, type FoundLine, linesIn } from './search-files.ts'

answerRequests<ExpressionSearch, FoundLine[]>(({ expression, texts }, begin) => {
  begin(0)
  const wanted = new RegExp(expression)
  return linesIn(texts, (line) => wanted.test(line))
})
