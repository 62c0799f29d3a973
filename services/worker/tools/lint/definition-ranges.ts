import type { Node } from 'web-tree-sitter'
import type { LoadedLanguage } from '#syntax/parser.ts'

/** UTF-16 units, end-exclusive. */
export type Range = { start: number; end: number }

const definitionTypes = new Set(['function_definition', 'class_definition', 'decorated_definition'])

/**
 * The functions and classes at a module's own level, also within its `if` and `try` statements, decorators included; what
 * is nested in them is not listed again.
 */
export function definitionRanges(source: string, python: LoadedLanguage): Range[] {
  return python.read(source, (tree) => {
    const definitions: Range[] = []
    const open: Node[] = [tree.rootNode]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (definitionTypes.has(node.type)) definitions.push({ start: node.startIndex, end: node.endIndex })
      // One by one: a list of a hundred thousand elements is too long for an argument list.
      else for (const child of node.namedChildren) if (child !== null) open.push(child)
    }
    return definitions
  })
}
