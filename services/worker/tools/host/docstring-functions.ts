import { WorkspaceFault } from '../../workspace/workspace-fault.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import { DocstringStyle } from '#domain/path-rules.ts'
import { describeDefinition, docstringForm } from '../docstring/describe-definition.ts'
import { findDocstringSite } from '#python/docstring-site.ts'
import { insertDocstring, type DocstringDeps } from '../docstring/insert-docstring.ts'
import { isStub } from '#python/stub-file.ts'
import type { TargetNode } from '../target-node.ts'
import { text } from './host-arguments.ts'
import type { HostFunction } from './host-function.ts'

/** `describe_definition` and `insert_docstring` on the attempt's node. */
export function docstringFunctions(
  workspace: Workspace,
  target: TargetNode,
  deps: DocstringDeps,
): Record<string, HostFunction> {
  return {
    async describe_definition() {
      const { source, start } = await target.locate()
      const facts = deps.python.read(source, (tree) => {
        const site = findDocstringSite(tree, start)
        if (site === undefined) return undefined
        return { ...describeDefinition(site), ...docstringForm(site, source, target.rules.text) }
      })
      if (facts === undefined) throw new WorkspaceFault('refused', 'the node is no function or class')
      return { ...facts, path: target.node.path, qualified_name: target.node.qualifiedName, kind: target.node.kind }
    },
    async insert_docstring([docstring, style]) {
      const { source, start } = await target.locate()
      if (isStub(target.node.path)) throw new WorkspaceFault('refused', 'a stub file holds no docstrings')
      const place = {
        source,
        index: start,
        docstring: text(docstring, 'docstring'),
        style: styleNamed(style),
        rules: target.rules,
      }
      const answer = await insertDocstring(place, deps)
      if (answer.kind === 'refused') throw new WorkspaceFault('refused', answer.reason)
      await workspace.writeText(target.node.path, answer.text)
      return { path: target.node.path, characters: answer.text.length - source.length }
    },
  }
}

/** `auto`, or nothing, is the style of the repository. */
function styleNamed(style: unknown): DocstringStyle | undefined {
  if (style === undefined || style === null || style === 'auto') return undefined
  const named = DocstringStyle.safeParse(style)
  if (named.success) return named.data
  throw new WorkspaceFault(
    'refused',
    `style must be auto, google, numpy, sphinx or plain, got: ${JSON.stringify(style)}`,
  )
}
