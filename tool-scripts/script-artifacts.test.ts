import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { parseJson } from '#domain/json.ts'
import { lacks } from '#testing/this-machine.ts'
import { checkScript } from './check-script.ts'
import { parseScript } from './parse-script.ts'
import { scriptArtifacts } from './script-artifacts.ts'

const everyForm = `"""Every form a declaration may have."""
import typing
from typing import Any, Literal, Optional
from grail import Input, external

text: str = Input("text")
count: int | None = Input(
    "count",
    default=None,
)
mode: Literal["a", "b"] = Input("mode", default="a")
nested: dict[
    str,  # by name
    list[Optional[int]],
] = Input("nested")
anything: typing.Any = Input("anything", default=None)
naïve: bool = Input("naïve", default=True)
settings: dict[str, Any] = Input("settings")


@external
async def read_file(path: str, start_line: int | None = None, end_line: int | None = None) -> str: ...


@external
def note(
    text: str,
    times: int = 2,
    *,
    mark: str,
) -> None:
    ...


x = [text, count, mode, nested, anything, naïve, settings, await read_file(text), note(text, mark="!")]
x
`

async function artifactsOf(source: string) {
  const { faults } = await checkScript(source, 'probe.pym')
  const script = await parseScript(source)
  return scriptArtifacts({ name: 'probe.pym', script, faults, providedInputNames: new Set(['settings', 'node_id']) })
}

describe('the artifacts of a script', () => {
  it('tell the schema of its inputs, which of them the host fills in, and what it asks of the host', async () => {
    const artifacts = await artifactsOf(everyForm)
    expect(parseJson(artifacts.get('inputs.json') ?? '')).toMatchObject({
      filled_in_by_host: ['settings'],
      schema: {
        properties: {
          count: { type: 'integer' },
          mode: { default: 'a', enum: ['a', 'b'] },
          settings: { type: 'object' },
        },
        required: ['text', 'nested', 'settings'],
      },
    })
    expect(parseJson(artifacts.get('externals.json') ?? '')).toMatchObject([
      { name: 'read_file', async: true, returns: { type: 'str', schema: { type: 'string' } } },
      { name: 'note', async: false, parameters: [{ name: 'text' }, { name: 'times', default: 2 }, { name: 'mark' }] },
    ])
  })

  it('give every line of the code the line of the source it stands for', async () => {
    const artifacts = await artifactsOf(everyForm)
    const code = (artifacts.get('monty_code.py') ?? '').split('\n')
    const source = everyForm.split('\n')
    const lines = Array.from({ length: source.length - 1 }, (_, index) => index + 1)
    expect(parseJson(artifacts.get('source_map.json') ?? '')).toEqual({
      code: 'monty_code.py',
      source: 'probe.pym',
      lines,
    })
    expect(code).toHaveLength(source.length)
    expect(code.at(-3)).toBe(source.at(-3))
  })

  it.skipIf(lacks('python3'))('have stubs that Python reads, with every name that the script may use', async () => {
    const stubs = (await artifactsOf(everyForm)).get('stubs.pyi') ?? ''
    const names = `import ast, sys
tree = ast.parse(sys.stdin.buffer.read().decode())
print(*[n.target.id if isinstance(n, ast.AnnAssign) else n.name for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom))], sep=',')`
    const read = spawnSync('python3', ['-X', 'utf8', '-c', names], { input: stubs, encoding: 'utf8' })
    expect(read.stderr).toBe('')
    expect(read.stdout.trim()).toBe('text,count,mode,nested,anything,naïve,settings,read_file,note')
  })

  it('are the check alone for a script that does not parse', async () => {
    const artifacts = await artifactsOf('x = (\n')
    expect([...artifacts.keys()]).toEqual(['check.json'])
    expect(parseJson(artifacts.get('check.json') ?? '')).toMatchObject({ valid: false, faults: [{ code: 'E000' }] })
  })
})
