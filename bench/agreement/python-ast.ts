import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { runProgram } from '#platform/run-program.ts'

type Python = { version: string; library: string }

const Answer = z.tuple([z.string(), z.string()])
const question =
  'import json, platform, sysconfig; print(json.dumps([platform.python_version(), sysconfig.get_path("stdlib")]))'
const limitMs = 20_000

/** The version of a Python and the folder of its standard library, or undefined where it does not run. */
export async function findPython(program: string): Promise<Python | undefined> {
  const running = { limitMs, signal: new AbortController().signal, env: process.env }
  const ended = await runProgram([program, '-c', question], running)
  if (ended.kind !== 'ended' || ended.code !== 0) return undefined
  const [version, library] = Answer.parse(JSON.parse(ended.out))
  return { version, library }
}

/** Copies a standard library without installed packages and what was compiled. */
export async function copyLibrary(library: string, to: string): Promise<void> {
  await cp(library, to, { recursive: true, filter: (path) => !/site-packages|__pycache__|\.so$/.test(path) })
}

const program = fileURLToPath(new URL('print-definitions.py', import.meta.url))

const Line = z.union([
  z.strictObject({ path: z.string(), refused: z.string() }),
  z.strictObject({
    path: z.string(),
    definitions: z.array(
      z
        .strictObject({
          kind: z.string(),
          qualified_name: z.string(),
          start_line: z.int(),
          end_line: z.int(),
          start_byte: z.int(),
          end_byte: z.int(),
        })
        .transform((one): Definition => ({
          kind: one.kind,
          qualifiedName: one.qualified_name,
          startLine: one.start_line,
          endLine: one.end_line,
          startByte: one.start_byte,
          endByte: one.end_byte,
        })),
    ),
  }),
])
export type AstAnswer = z.infer<typeof Line>

/** The definitions that Python's ast module finds in files of a folder, in the order of `paths`. Throws when `python` fails. */
export async function astDefinitions(
  python: string,
  folder: string,
  paths: readonly string[],
): Promise<Map<string, AstAnswer>> {
  const child = spawn(python, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.end(paths.map((path) => `${JSON.stringify(path)}\n`).join(''))
  const answers = new Map<string, AstAnswer>()
  for await (const line of createInterface({ input: child.stdout })) {
    const answer = Line.parse(JSON.parse(line))
    answers.set(answer.path, answer)
  }
  const [code] = await ended
  if (code !== 0 || answers.size !== paths.length) throw new Error(`${python} ended with ${code}`)
  return answers
}

/** A definition, in the terms that Python's ast module and a query pack share. */
export type Definition = {
  kind: string
  qualifiedName: string
  startLine: number
  endLine: number
  startByte: number
  endByte: number
}
