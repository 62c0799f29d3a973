import { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import type { PinnedBundle } from './pin-bundles.ts'

/** A python bundle on nodes of these kinds. */
export function aBundle(
  name: string,
  kinds: string[],
  over: Partial<Pick<BundleFile, 'after' | 'after_optional' | 'containment'>> = {},
): PinnedBundle {
  const file = BundleFile.parse({
    name,
    description: 'd',
    node_kinds: kinds,
    languages: ['python'],
    initial_context: { system_prompt: 's', node_context: 'n' },
    tools: [{ builtin: 'submit_result' }],
    ...over,
  })
  return { hash: `hash of ${name}`, bundle: AgentBundle.parse({ file, tools: [], scripts: {}, hostInputs: {} }) }
}

/** A node as a tree is written down: kind, name, what is inside. */
export type Source = [kind: string, name: string, ...inside: Source[]]

/** The nodes of one file in source order, an enclosing node before those in it. */
export function nodesOf(path: string, source: Source, language = 'python'): CodeNode[] {
  const nodes: CodeNode[] = []
  let byte = 0
  const add = ([kind, name, ...inside]: Source, parent: CodeNode | undefined): void => {
    const qualifiedName = parent === undefined ? name : `${parent.qualifiedName}.${name}`
    const node: CodeNode = {
      nodeId: nodeId({ path, kind, qualifiedName, ordinal: nodes.length }),
      kind,
      name,
      qualifiedName,
      path,
      language,
      startLine: 1,
      endLine: 1,
      startByte: byte++,
      endByte: byte,
      parentId: parent?.nodeId ?? null,
      hash: '',
    }
    nodes.push(node)
    for (const one of inside) add(one, node)
    node.endByte = ++byte
  }
  add(source, undefined)
  return nodes
}
