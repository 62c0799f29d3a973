/** Entry of a thread that looks for lines. */
import { answerRequests } from '#platform/thread-entry.ts'
import { type FoundLine, linesIn, type LineSearch } from './search-files.ts'

answerRequests<LineSearch, FoundLine[]>(({ text, isExpression, texts }, begin) => {
  begin(0)
  if (!isExpression) return linesIn(texts, (line) => line.includes(text))
  const wanted = new RegExp(text)
  return linesIn(texts, (line) => wanted.test(line))
})
