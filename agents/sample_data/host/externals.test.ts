import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openWorkspace } from '#stages/operate/workspace/open-workspace.ts'
import { openTargetNode } from '#stages/operate/tools/target-node.ts'
import { sampleExternals } from './externals.ts'

const python = await loadLanguage('python')
const source = 'from .kinds import Kind\n\n\ndef price(sku: str, kind: Kind, at=None): ...\n'
const files = {
  'shop/a.py': source,
  'shop/kinds.py': 'import enum\nclass Kind(enum.Enum):\n    A = "a"\n',
  'tests/t.py': '',
}

/** Of a machine that runs no programs. */
const programs = {
  run: async () => {
    throw new AppError('TOOL_005', 'there is no sandbox')
  },
}

async function opened(tree: Record<string, string> = files, over: { language?: string; qualifiedName?: string } = {}) {
  const inside = (folder: string) => Object.keys(tree).filter((path) => folder === '' || path.startsWith(`${folder}/`))
  const workspace = openWorkspace({
    find: (path) => (tree[path] === undefined ? undefined : { hash: sha256(path) }),
    kindAt: (path) => (tree[path] === undefined ? (inside(path).length > 0 ? 'folder' : undefined) : 'file'),
    list: (folder) => [
      ...new Set(
        inside(folder).map((path) => /^[^/]*\/?/.exec(path.slice(folder === '' ? 0 : folder.length + 1))?.[0] ?? ''),
      ),
    ],
    read: async (hash) => Buffer.from(Object.entries(tree).find(([path]) => sha256(path) === hash)?.[1] ?? ''),
  })
  const { node } = aPlannedOperation('price')
  const place = {
    path: 'shop/a.py',
    startByte: 0,
    endByte: source.length,
    language: 'python',
    qualifiedName: 'price',
    ...over,
  }
  const target = await openTargetNode({ ...node, ...place }, workspace, { rules: defaultPathRules })
  const { describe_parameters, write_samples } = sampleExternals(workspace, target, { python, programs })
  return {
    workspace,
    describe: async (...args: unknown[]) => describe_parameters(args),
    write: async (...args: unknown[]) => write_samples(args),
  }
}

const valid = [{ name: 'usual', arguments: { kind: 'a', sku: 'x' } }]
const invalid = [{ name: 'no member', why: 'kind is no member', arguments: { sku: 'x', kind: 'b' } }]

describe('describe_parameters', () => {
  it('answers the signature with the types of other files, and where there are samples', async () => {
    const { describe: ask, write } = await opened()
    expect(await ask()).toMatchObject({
      path: 'shop/a.py',
      signature: '(sku: str, kind: Kind, at=None)',
      schema: { properties: { sku: { type: 'string' }, kind: { enum: ['a'] }, at: {} }, required: ['sku', 'kind'] },
      unconstrained: ['at'],
      left_out: [],
      samples: null,
      format: 'json',
    })
    await write(valid, invalid)
    expect(await ask('yaml')).toMatchObject({ samples: 'tests/fixtures/shop/a.price.json' })
  })

  it.each([
    ['of another language', { language: 'go' }, 'Python only'],
    ['that is not there', { qualifiedName: 'gone' }, 'gone is no function'],
  ])('refuses a node %s', async (_, over, reason) => {
    await expect((await opened(files, over)).describe()).rejects.toThrow(reason)
  })

  it('refuses a format that does not exist', async () => {
    await expect((await opened()).describe('toml')).rejects.toThrow('format must be auto, json or yaml, got: "toml"')
  })
})

describe('write_samples', () => {
  it('writes one new file, in the format that was asked for', async () => {
    const { workspace, write } = await opened()
    expect(await write(valid, invalid, 'yaml')).toEqual({
      path: 'tests/fixtures/shop/a.price.yaml',
      valid: 1,
      invalid: 1,
      called: 0,
      left_out: [],
    })
    expect(workspace.changedPaths()).toEqual(['tests/fixtures/shop/a.price.yaml'])
    expect(await workspace.readText('tests/fixtures/shop/a.price.yaml')).toBe(
      'source: "shop/a.py::price"\nsignature: "(sku: str, kind: Kind, at=None)"\nvalid:\n  - name: "usual"\n    arguments:\n      sku: "x"\n      kind: "a"\n' +
        'invalid:\n  - name: "no member"\n    why: "kind is no member"\n    arguments:\n      sku: "x"\n      kind: "b"\n',
    )
  })

  it('never writes over samples that are there, in whichever format', async () => {
    const { write, workspace } = await opened({ ...files, 'tests/fixtures/shop/a.price.yml': 'mine: 1\n' })
    await expect(write(valid, invalid)).rejects.toThrow('there are samples already, in tests/fixtures/shop/a.price.yml')
    expect(workspace.changedPaths()).toEqual([])
  })

  it('refuses cases that do not hold with every fault, and writes nothing', async () => {
    const { write, workspace } = await opened()
    const wrong = write(
      [{ name: 'a', arguments: { sku: 1 } }],
      [{ name: 'b', why: 'kind', arguments: { sku: 'x', kind: 'a' } }],
    )
    await expect(wrong).rejects.toThrow(
      /valid case "a": sku.*\nvalid case "a": kind.*\ninvalid case "b": the types accept it/s,
    )
    await expect(write('none', 7)).rejects.toThrow(/valid: .*\ninvalid: /s)
    const long = Array.from({ length: 20 }, (_, at) => ({
      name: `${at}`,
      arguments: { sku: `${at}`.repeat(4_000), kind: 'a' },
    }))
    await expect(write(long, invalid)).rejects.toThrow(/the file would have \d+ bytes/)
    expect(workspace.changedPaths()).toEqual([])
  })
})
