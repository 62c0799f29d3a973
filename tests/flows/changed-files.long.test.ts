import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { lastDocument } from '../e2e/program.ts'
import { sourceFolder } from '../e2e/source-folder.ts'
import { startInOneProcess } from './one-process.ts'

/** A bundle whose tool does everything to files that a tool can do. */
const tidyingAgent = {
  'agents/tidy/bundle.yaml': `name: tidy
description: Tidy up the files.
node_kinds: [file]
languages: [python]
initial_context:
  system_prompt: Tidy up. Always respond with a tool call.
  node_context: "{{ file_path }}"
tools:
  - { name: tidy, script: tools/tidy.pym, description: Tidy up. }
  - { builtin: submit_result }
evidence: [parses]
limits: { max_turns: 3, verify_attempts: 0 }
`,
  'agents/tidy/tools/tidy.pym': `"""Tidies up."""
from typing import Any

from grail import external


@external
async def read_files(paths: list[str]) -> dict[str, str]: ...


@external
async def search_files(text: str, paths: str = "", regex: bool = False) -> list[dict[str, Any]]: ...


@external
async def write_file(path: str, content: str, executable: bool | None = None) -> dict[str, Any]: ...


@external
async def write_files(files: dict[str, str]) -> dict[str, Any]: ...


@external
async def delete_file(path: str) -> dict[str, Any]: ...


@external
async def rename_file(path: str, new_path: str) -> dict[str, Any]: ...


texts = await read_files(["dos.txt", "make.sh"])
await write_files({"dos.txt": texts["dos.txt"].replace("two", "zwei"), "sub/new.txt": "\\ufeffno end"})
await write_file("make.sh", texts["make.sh"], executable=True)
await write_file("latin1.txt", "é\\n")
await rename_file("run.sh", "bin/run.sh")
for found in await search_files("^remove (me|us)$", "*.txt", regex=True):
    await delete_file(found["path"])
answer = {"result": "", "summary": "tidied up", "knowledge_delta": {}, "outcome": "success"}
answer
`,
}

const Run = z.object({ result: z.looseObject({ run_id: z.string() }) })

it('a run deletes, makes, renames and replaces files, with their modes, and its patch keeps every byte', async () => {
  const folder = await sourceFolder({
    ...tidyingAgent,
    'src/only.py': 'x = 1\n',
    'src/dos.txt': '\uFEFFone\r\ntwo\r\nthree\nno end',
    'src/make.sh': '#!/bin/sh\r\n',
    'src/run.sh': '#!/bin/sh\n',
    'src/gone.txt': 'remove me',
  })
  const at = (path: string) => join(folder.path, 'src', path)
  await chmod(at('run.sh'), 0o755)
  await writeFile(at('latin1.txt'), Buffer.from('caf\u00e9\r\n', 'latin1'))
  onTestFinished(folder.remove)
  const env = { REMORA_AGENTS_DIR: join(folder.path, 'agents') }
  const services = await startInOneProcess({ env })
  onTestFinished(services.close)
  const run = await services.remora(folder, ['run', 'src', '--agents', 'tidy', '--apply', '--json'], env)
  expect(run).toMatchObject({ code: 0 })
  const read = async (path: string) => ({
    text: await readFile(at(path), 'latin1').catch(() => undefined),
    isExecutable: (((await stat(at(path)).catch(() => undefined))?.mode ?? 0) & 0o100) !== 0,
  })
  const paths = ['dos.txt', 'make.sh', 'run.sh', 'bin/run.sh', 'gone.txt', 'latin1.txt', 'sub/new.txt']
  expect(await Promise.all(paths.map(read))).toEqual([
    { text: Buffer.from('\uFEFFone\r\nzwei\r\nthree\nno end').toString('latin1'), isExecutable: false },
    { text: '#!/bin/sh\r\n', isExecutable: true },
    { text: undefined, isExecutable: false },
    { text: '#!/bin/sh\n', isExecutable: true },
    { text: undefined, isExecutable: false },
    { text: Buffer.from('é\n').toString('latin1'), isExecutable: false },
    { text: Buffer.from('\uFEFFno end').toString('latin1'), isExecutable: false },
  ])
  const { run_id: runId } = Run.parse(lastDocument(run.out)).result
  expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
})
