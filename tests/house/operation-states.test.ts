import { describe, expect, it } from 'vitest'
import { endedOperationStatuses, operationStatuses } from '#domain/operation.ts'
import { operationTransitions } from '#store/ledger/operation-transitions.fixture.ts'
import { readPage } from './read-markdown.ts'

/** `[*]` is where a state diagram begins and ends. */
type Edge = { from: string; to: string; by: string[] }

const edgeLine = /^(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?$/

/** Reads the edges of the page's state diagrams; a line that is none makes this throw. */
function readStateDiagrams(text: string): { edges: Edge[] } {
  const blocks = [...text.matchAll(/^```mermaid\nstateDiagram-v2\n(.*?)^```/gms)]
  const lines = blocks.flatMap(([, body = '']) => body.split('\n').map((line) => line.trim()))
  const edges: Edge[] = []
  for (const line of lines.filter((one) => one !== '')) {
    const [, from, to, label = ''] = edgeLine.exec(line) ?? []
    if (from === undefined || to === undefined) throw new Error(`no edge: ${line}`)
    else edges.push({ from, to, by: label === '' ? [] : label.split(', ') })
  }
  return { edges }
}

const sentence = ({ from, to, by }: Edge) => `${from} --> ${to}: ${by.toSorted().join(', ')}`

describe('the state diagram of an operation in ARCHITECTURE.md', () => {
  const { edges } = readStateDiagrams(readPage('ARCHITECTURE.md'))

  it("draws every way the ledger's commands can take, and no other", () => {
    // The ledger's model test proves that the ledger has each of these transitions and no other (ledger-model.integration.test.ts).
    const taken = operationTransitions.map(({ from, to, by }) => ({
      from: from === 'new' ? '[*]' : from,
      to,
      by: [...by],
    }))
    const drawn = edges.filter(({ to }) => to !== '[*]')
    expect(drawn.map(sentence).toSorted()).toEqual(taken.map(sentence).toSorted())
  })

  it('ends where an operation ends', () => {
    const last = edges.filter(({ to }) => to === '[*]').map(({ from }) => from)
    expect(last.toSorted()).toEqual(endedOperationStatuses.toSorted())
  })

  it('has every state', () => {
    const states = new Set(edges.flatMap(({ from, to }) => [from, to]))
    expect(operationStatuses.filter((status) => !states.has(status))).toEqual([])
  })
})
