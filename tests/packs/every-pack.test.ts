import { describe, expect, it } from 'vitest'
import { languages } from '#languages/syntax/grammars.ts'
import { twoDefinitions } from './hard-source.fixture.ts'
import { openOutline } from '#stages/discover/outline.fixture.ts'

describe.each(languages)('the %s pack', (language) => {
  it('cuts nodes out of their bytes behind a byte order mark and emoji, and tells two of one name apart', async () => {
    const { text, definition } = twoDefinitions(language, 'named')
    const bytes = new TextEncoder().encode(text)
    const [, ...nodes] = (await openOutline(language)).nodesOf(bytes)
    const cut = nodes.map((node) => new TextDecoder().decode(bytes.subarray(node.startByte, node.endByte)))
    expect(cut).toEqual([expect.stringContaining('named'), cut[0]])
    expect(definition).toContain(cut[0])
    expect(new Set(nodes.map(({ nodeId }) => nodeId)).size).toBe(2)
  })
})
