import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readCliConfig } from '../cli-config.ts'
import { answerQuestions } from './answer-questions.ts'
import { runTool, type ToolRun } from './run-tool.ts'

const asking = `from typing import Any
from grail import external

@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...
@external
async def ask_user(question: str, choices: list[str] | None = None) -> str: ...

await write_file("asked.txt", "1")
kind = await ask_user("Which kind?", ["one", "other"])
why = await ask_user("Why " + kind + "?")
answer = kind + ", " + why
answer
`
const never = new AbortController().signal
let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tool-ask-'))
  await writeFile(join(dir, 'ask.pym'), asking)
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const { queries: packs, sandbox } = readCliConfig({})
const parts = { packs, sandbox }

const run = (answers: string[]): Promise<ToolRun> =>
  runTool(
    {
      file: join(dir, 'ask.pym'),
      given: { texts: new Map(), values: {} },
      workspace: dir,
      node: undefined,
      limits: 'default',
    },
    { ...parts, onLog: () => {}, answer: answerQuestions(answers) },
    never,
  )

describe('a script that asks, tried from the command line', () => {
  it('goes on with each answer, over what it did before', async () => {
    const { ending, changes } = await run(['other', 'it fits'])
    expect(ending).toMatchObject({ kind: 'returned', value: 'other, it fits' })
    expect(ending.journal.map(({ name }) => name)).toEqual(['write_file', 'ask_user', 'ask_user'])
    expect(changes.map(({ path }) => path)).toEqual(['asked.txt'])
  })

  it('ends where it asks when nobody answers', async () => {
    expect((await run(['one'])).ending).toMatchObject({ kind: 'suspended', question: { text: 'Why one?' } })
  })

  it('takes only one of the choices', async () => {
    await expect(run(['neither'])).rejects.toMatchObject({ code: 'ASK_005' })
  })
})
