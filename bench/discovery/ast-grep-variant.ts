import python from '@ast-grep/lang-python'
import { findInFiles, Lang, registerDynamicLanguage, type SgNode } from '@ast-grep/napi'
import { reportVariant } from './report-variant.ts'

/** ast-grep's own threaded walk over the same files, kinds and fields: name, range, lines. The second argument is `python` or `typescript`. */
const [root = '.', language = 'python'] = process.argv.slice(2)
const isPython = language === 'python'
const kinds = isPython
  ? ['function_definition', 'class_definition']
  : [
      'function_declaration',
      'class_declaration',
      'method_definition',
      'interface_declaration',
      'type_alias_declaration',
      'enum_declaration',
    ]
const matcher = { rule: { any: kinds.map((kind) => ({ kind })) } }
registerDynamicLanguage({ python })
await reportVariant(async () => {
  let nodes = 0
  let called = 0
  const all = Promise.withResolvers<number>()
  let matched = Number.POSITIVE_INFINITY
  const count = () => called >= matched && all.resolve(matched)
  const walking = findInFiles(isPython ? 'python' : Lang.TypeScript, { paths: [root], matcher }, (error, found) => {
    called++
    if (error === null) nodes += found.map(definitionOf).length
    count()
  })
  matched = await walking // its promise may resolve before its last callback
  count()
  return { files: await all.promise, nodes }
})

function definitionOf(node: SgNode) {
  const { start, end } = node.range()
  return { kind: node.kind(), name: node.field('name')?.text(), start, end }
}
