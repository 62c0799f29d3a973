import { setImmediate } from 'node:timers/promises'
import python from '@ast-grep/lang-python'
import { findInFiles, registerDynamicLanguage } from '@ast-grep/napi'
import { reportVariant } from './report-variant.ts'

/** ast-grep's own threaded walk over the same files, kinds and fields: name, range, lines. */
const [root = '.'] = process.argv.slice(2)
const matcher = { rule: { any: [{ kind: 'function_definition' }, { kind: 'class_definition' }] } }
registerDynamicLanguage({ python })
await reportVariant(async () => {
  let nodes = 0
  let called = 0
  const files = await findInFiles('python', { paths: [root], matcher }, (error, found) => {
    called++
    if (error !== null) return
    const definitions = found.map((node) => {
      const { start, end } = node.range()
      return { kind: node.kind(), name: node.field('name')?.text(), start, end }
    })
    nodes += definitions.length
  })
  while (called < files) await setImmediate() // its promise may resolve before its last callback
  return { files, nodes }
})
