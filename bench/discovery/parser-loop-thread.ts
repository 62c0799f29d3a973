import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { Query } from 'web-tree-sitter'
import { loadLanguage } from '#languages/syntax/parser.ts'

/** Parses the files it is sent and runs one plain query over each: the least that a loop around the parser can do. */
const python = await loadLanguage('python')
const query = new Query(
  python.language,
  '(function_definition name: (identifier) @name) @function (class_definition name: (identifier) @name) @class',
)

parentPort?.on('message', (files: readonly string[]) => parentPort?.postMessage(files.flatMap(definitionsOf)))

function definitionsOf(file: string) {
  const text = readFileSync(file, 'utf8')
  const tree = python.parse(text)
  const found = query.matches(tree.rootNode).map(({ captures }) => {
    const [def, name] = captures[0]?.name === 'name' ? captures.toReversed() : captures
    const range = [def?.node.startIndex, def?.node.endIndex]
    const lines = [def?.node.startPosition.row, def?.node.endPosition.row]
    return { kind: def?.name, name: text.slice(name?.node.startIndex, name?.node.endIndex), range, lines }
  })
  tree.delete()
  return found
}
