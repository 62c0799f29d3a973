import { draws, fc, testSeed } from '#testing/fast-check.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { dialects } from './dialects.fixture.ts'
import { generatedParts, type GeneratedPart, withOtherGaps } from './generated-source.fixture.ts'
import { compileNodeQuery, type NodeQuery } from '#stages/discover/node-query.ts'
import { nodesOfFile } from '#stages/discover/outline.fixture.ts'
import { loadQueryPacks } from '#stages/discover/query-pack.ts'

const examples = { numRuns: draws(100) }

describe.each(dialects)(`node ids in $language (REMORA_TEST_SEED=${testSeed})`, (dialect) => {
  const { language, path } = dialect
  let query: NodeQuery

  beforeAll(async () => {
    const pack = (await loadQueryPacks()).get(language)
    if (pack === undefined) throw new Error(`no ${language} pack`)
    query = await compileNodeQuery(pack)
  })

  const nodesOfBytes = (bytes: Uint8Array) => nodesOfFile({ path, bytes, language, query })
  const nodesOf = (parts: readonly GeneratedPart[]) => nodesOfBytes(Buffer.from(dialect.write(parts)))

  /** If what follows a definition belongs to it, that changes its text, but not its id. */
  const idAndText = (node: CodeNode) => [node.nodeId, ...(dialect.ownsWhatFollows === true ? [] : [node.hash])]

  const file = generatedParts(dialect)
  const part = file.filter((parts) => parts.length > 0).map((parts) => parts.slice(0, 1))
  const gaps = fc.array(fc.nat(dialect.gapCount - 1), { minLength: 1, maxLength: 20 })
  const place = fc.nat(20)

  it('are found for every definition that is written', () => {
    const count = (parts: readonly GeneratedPart[]): number =>
      parts.reduce((sum, { definition }) => sum + 1 + count(definition.parts), 0)
    fc.assert(
      fc.property(file, (parts) => {
        expect(nodesOf(parts)).toHaveLength(count(parts) + 1)
      }),
      examples,
    )
  })

  it('stay the same whatever text is put in, taken out or changed between definitions, at any depth', () => {
    fc.assert(
      fc.property(file, gaps, (parts, others) => {
        const [before, after] = [nodesOf(parts), nodesOf(withOtherGaps(parts, others))]
        expect(idsOf(after)).toEqual(idsOf(before))
        expect(leaves(after).map(idAndText)).toEqual(leaves(before).map(idAndText))
      }),
      examples,
    )
  })

  it('stay the same when other definitions are put in, but for later ones of a name that is put in', () => {
    fc.assert(
      fc.property(file, part, place, (parts, added, at) => {
        const [before, more] = [nodesOf(parts), nodesOf(added)]
        const put = new Set(inside(more).map(identityOf))
        const after = nodesOf(parts.toSpliced(at % (parts.length + 1), 0, ...added))
        const kept = (nodes: readonly CodeNode[]) => inside(nodes).filter((node) => !put.has(identityOf(node)))
        expect(kept(after).map(idAndText)).toEqual(kept(before).map(idAndText))
        expect(idsOf(after)).toEqual(expect.arrayContaining(idsOf(before)))
      }),
      examples,
    )
  })

  it('stay the same above the place where a definition is taken out or put in', () => {
    fc.assert(
      fc.property(file, part, place, (parts, added, where) => {
        const at = where % (parts.length + 1)
        const above = inside(nodesOf(parts.slice(0, at))).map(idAndText)
        const starts = [parts.toSpliced(at, 1), parts.toSpliced(at, 0, ...added)].map((edited) =>
          inside(nodesOf(edited)).slice(0, above.length).map(idAndText),
        )
        expect(starts).toEqual([above, above])
      }),
      examples,
    )
  })

  it('go with their nodes when definitions are put in another order, unless names are equal', () => {
    const reordered = file.chain((parts) =>
      fc.tuple(fc.constant(parts), fc.shuffledSubarray(parts, { minLength: parts.length })),
    )
    fc.assert(
      fc.property(reordered, ([parts, other]) => {
        const [before, after] = [nodesOf(parts), nodesOf(other)]
        expect(idsOf(after).toSorted()).toEqual(idsOf(before).toSorted())
        const ofOneName = (nodes: readonly CodeNode[]) =>
          [...Map.groupBy(inside(nodes), identityOf).values()]
            .filter((equal) => equal.length === 1)
            .flat()
            .map((node) => idAndText(node).join(' '))
            .toSorted()
        expect(ofOneName(after)).toEqual(ofOneName(before))
      }),
      examples,
    )
  })

  it('number equal names in source order, so that no two nodes share one', () => {
    fc.assert(
      fc.property(file, (parts) => {
        const seen = new Map<string, number>()
        const nodes = inside(nodesOf(parts))
        expect(nodes.map(({ startByte }) => startByte)).toEqual(
          nodes.map(({ startByte }) => startByte).toSorted(byNumber),
        )
        for (const node of nodes) {
          const ordinal = seen.get(identityOf(node)) ?? 0
          seen.set(identityOf(node), ordinal + 1)
          expect(node.nodeId).toBe(nodeId({ path, kind: node.kind, qualifiedName: node.qualifiedName, ordinal }))
        }
      }),
      examples,
    )
  })

  it('are the same with a byte order mark and with other line ends', () => {
    fc.assert(
      fc.property(file, (parts) => {
        const text = dialect.write(parts)
        const crlf = text.replaceAll('\n', '\r\n')
        const ids = [text, `\uFEFF${text}`, crlf, `\uFEFF${crlf}`].map((one) => idsOf(nodesOfBytes(Buffer.from(one))))
        expect(ids).toEqual(ids.map(() => ids[0]))
      }),
      examples,
    )
  })
})

const idsOf = (nodes: readonly CodeNode[]) => nodes.map((node) => node.nodeId)
const identityOf = ({ kind, qualifiedName }: CodeNode) => `${kind} ${qualifiedName}`
const inside = (nodes: readonly CodeNode[]) => nodes.filter((node) => node.kind !== 'file')
const byNumber = (one: number, other: number) => one - other

/** Nodes that hold no other. */
function leaves(nodes: readonly CodeNode[]): CodeNode[] {
  const parents = new Set(nodes.map((node) => node.parentId))
  return inside(nodes).filter((node) => !parents.has(node.nodeId))
}
