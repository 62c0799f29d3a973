import type { Node } from 'web-tree-sitter'
import type { LoadedLanguage } from '#syntax/parser.ts'

/** UTF-16 units, end-exclusive. */
export type Range = { start: number; end: number }

export type ModuleOutline = {
  /** The module's functions and classes, decorators included; what is nested in them is not listed again. */
  definitions: Range[]
  /** `from … import …` statements outside every definition. */
  fromImports: Range[]
}

const definitionTypes = new Set(['function_definition', 'class_definition', 'decorated_definition'])

/** What stands at a module's own level, also within its `if` and `try` statements. */
export function moduleOutline(source: string, python: LoadedLanguage): ModuleOutline {
  return python.read(source, (tree) => {
    const outline: ModuleOutline = { definitions: [], fromImports: [] }
    const open: Node[] = [tree.rootNode]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const range = { start: node.startIndex, end: node.endIndex }
      if (definitionTypes.has(node.type)) outline.definitions.push(range)
      else if (node.type === 'import_from_statement') outline.fromImports.push(range)
      // One by one: a list of a hundred thousand elements is too long for an argument list.
      else for (const child of node.namedChildren) if (child !== null) open.push(child)
    }
    return outline
  })
}
