/**
 * Entry of the thread that texts of other languages than Python are parsed in. It answers each with what the checks ask. Nothing is
 * caught: a text may leave the parser damaged, so the thread dies.
 */
import { parentPort } from 'node:worker_threads'
import { loadLanguage } from '#syntax/parser.ts'
import { syntaxFactsOf, type SyntaxFacts } from './syntax-faults.ts'
import type { SyntaxQuestion } from './syntax-checker.ts'
import type { ThreadReply } from '#platform/thread-link.ts'

const say = (reply: ThreadReply<SyntaxFacts>) => parentPort?.postMessage(reply)

/** In the order they came, also where the first of them waits for its grammar. */
let before: Promise<void> = Promise.resolve()

async function answer({ language, text }: SyntaxQuestion): Promise<void> {
  const loaded = await loadLanguage(language)
  say({ report: loaded.read(text, syntaxFactsOf) })
}

say({ version: 'tree-sitter' })
parentPort?.on('message', (question: SyntaxQuestion) => {
  before = before.then(() => answer(question))
})
