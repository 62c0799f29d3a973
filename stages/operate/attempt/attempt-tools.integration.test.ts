import { expect, it } from 'vitest'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'

const source = 'import os\n\n\ndef shelf(row):\n    return f"shelf"\n'
const probe = `from typing import Any
from grail import Input, external

files: dict[str, str] = Input("files")
node_text: str = Input("node_text")


@external
async def log(message: str) -> None: ...


for path in files:
    await log(path + "\\n" + files[path])
await log(node_text)
answer = {
    "result": {"total": 0, "fixable": 0, "diagnostics": []},
    "summary": "looked",
    "knowledge_delta": {},
    "outcome": "success",
}
answer
`

const bench = useOpened(openOperationBench)

it('a script is given the text of its node and the files it has to do with', async () => {
  const bundle = await bench.bundle('lint')
  bundle.scripts['run_linter'] = { path: 'lint/tools/run_linter.pym', source: probe }
  bundle.hostInputs['run_linter'] = ['files', 'node_text']
  const planned = await bench.planned(bundle, source, 'shelf')
  await runOperation(planned.job, bench.deps, new AbortController().signal)
  const record = await bench.record(await bench.operation(planned))
  const [first] = record.tools
  expect(first?.externals.map(({ args }) => args)).toEqual([
    [`${planned.file.path}\n${source}`],
    ['def shelf(row):\n    return f"shelf"'],
  ])
})
