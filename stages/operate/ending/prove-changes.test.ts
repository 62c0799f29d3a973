import { describe, expect, it } from 'vitest'
import { type Evidence, proofOf } from '#domain/change-set.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { runRules } from '../evidence/run-rules.ts'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { evidenceFault, openProof } from './prove-changes.ts'

const never = new AbortController().signal

const asked = { turn: 1, startedAt: 0, durationMs: 1, toolChoice: 'required', messages: 2, leftOut: 0 }

/** Two new files that are checked one after the other; `checked` has the paths checked so far. */
async function twoFiles(onCheck: () => void, model = 'other') {
  const workspace = openWorkspace(baseOver({}))
  for (const path of ['a.py', 'b.md']) await workspace.writeText(path, 'x = 1\n')
  const checked: string[] = []
  const check = async ({ path }: { path: string }): Promise<Evidence[]> => {
    checked.push(path)
    onCheck()
    return [{ check: path === 'a.py' ? 'says_something' : 'parses', path, ok: true, tool: 't' }]
  }
  const node = { path: 'a.py', language: 'python', startByte: 0, endByte: 5 }
  const file = { evidence: ['parses' as const] }
  const proven = {
    attempt: { operationId: 'op', repeats: null, node },
    bundle: { bundle: { file } },
    rules: runRules(undefined),
    transcript: { exchanges: [{ ...asked, model }] },
    workspace,
  }
  const prove = openProof(proven, { evidence: { check }, tests: { evidence: async () => [] } })
  return { prove, checked }
}

describe('the proof of what an attempt changed', () => {
  it('is found out once for one state of its files', async () => {
    const { prove, checked } = await twoFiles(() => undefined)
    const { evidence } = await prove(never)
    expect(evidence.map(({ path }) => path)).toEqual(['a.py', 'b.md'])
    expect(await prove(never)).toMatchObject({ evidence })
    expect(checked).toEqual(['a.py', 'b.md'])
  })

  it('is not finished for an attempt that is stopped, and is found out anew when it is asked for again', async () => {
    const stop = new AbortController()
    const { prove, checked } = await twoFiles(() => stop.abort(new Error('stopped')))
    await expect(prove(stop.signal)).rejects.toThrow('stopped')
    expect(checked).toEqual(['a.py'])
    expect((await prove(never)).evidence).toHaveLength(2)
  })

  it('finds that the rehearsal model has said nothing, which breaks nothing', async () => {
    const { prove } = await twoFiles(() => undefined, rehearsalLabel)
    const { evidence } = await prove(never)
    expect(evidence).toMatchObject([
      { check: 'says_something', path: 'a.py', ok: false },
      { check: 'parses', path: 'b.md', ok: true },
    ])
    expect(evidenceFault(evidence)).toBeUndefined()
    expect(proofOf({ evidence: [...evidence] })).toBe('failed')
  })

  it.each([
    ['go', '//a:b\n', '// F does it.\n//\n', true],
    ['go', '//a:b\r\n\t//c:d\r\n\t', '// F does it.\r\n', true],
    ['go', '// text\n', '// F does it.\n', false],
    ['go', 'var a int\n', '// F does it.\n', false],
    ['rust', '//a:b\n', '/// Does it.\n', false],
  ])(
    'finds that in %s what is inserted above %j is of the definition below: %j',
    async (language, between, text, isIn) => {
      const [head, code] = ['package a\n\n', 'func F() {}']
      const workspace = openWorkspace(baseOver({ 'a.go': `${head}${between}${code}\n` }))
      await workspace.writeText('a.go', `${head}${text}${between}${code}\n`)
      const startByte = Buffer.byteLength(head + between)
      const node = { path: 'a.go', language, startByte, endByte: startByte + code.length }
      const proven = {
        attempt: { operationId: 'op', repeats: null, node },
        bundle: { bundle: { file: { evidence: ['only_node_changed' as const] } } },
        rules: runRules(undefined),
        transcript: { exchanges: [] },
        workspace,
      }
      const seen: unknown[] = []
      const check = async ({ inNode }: { inNode?: boolean }) => (seen.push(inNode), [])
      await openProof(proven, { evidence: { check }, tests: { evidence: async () => [] } })(never)
      expect(seen).toEqual([isIn])
    },
  )
})
