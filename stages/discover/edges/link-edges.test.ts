import { describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { linkEdges } from './link-edges.ts'
import type { LinkInput } from './linked-repository.ts'
import type { Reference } from './find-references.ts'

function node(path: string, name: string, parentId: string | null): CodeNode {
  const kind = parentId === null ? 'file' : 'function'
  const id = nodeId({ path, kind, qualifiedName: name, ordinal: 0 })
  const place = { startLine: 1, endLine: 1, startByte: 0, endByte: 1 }
  return { nodeId: id, kind, name, qualifiedName: name, path, language: 'python', ...place, parentId, hash: 'h' }
}

/** Python files with one function each, that calls the one of the next file. */
function chain(files: number): LinkInput {
  const paths = Array.from({ length: files }, (_, at) => `m${String(at).padStart(5, '0')}.py`)
  const nodes = paths.flatMap((path, at) => {
    const file = node(path, path, null)
    return [file, node(path, `f${at}`, file.nodeId)]
  })
  const references = paths.map((path, at): [string, Reference[]] => {
    const name = `f${at + 1}`
    const module = paths[at + 1]?.replace('.py', '') ?? 'nowhere'
    return [
      path,
      [
        { kind: 'import', from: 0, module, name },
        { kind: 'call', from: 1, name },
      ],
    ]
  })
  return { paths, nodes, references: new Map(references), moduleFiles: new Map() }
}

describe('linkEdges', () => {
  it('gives them in the order of the nodes', async () => {
    const { nodes, ...rest } = chain(3)
    const edges = await linkEdges({ nodes, ...rest })
    const names = new Map(nodes.map((one) => [one.nodeId, one.name]))
    expect(edges.map(({ from, to, kind }) => `${names.get(from)} ${kind} ${names.get(to)}`)).toEqual([
      'm00000.py imports f1',
      'f0 calls f1',
      'm00001.py imports f2',
      'f1 calls f2',
    ])
  })

  it('lets other work go on while a large repository is linked', async () => {
    const order: string[] = []
    setImmediate(() => order.push('other work'))
    expect(await linkEdges(chain(20_000))).toHaveLength(2 * 19_999)
    order.push('linked')
    expect(order).toEqual(['other work', 'linked'])
  })

  it('stops when it is told to', async () => {
    await expect(linkEdges(chain(20_000), AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  })
})
