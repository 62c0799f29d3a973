import { z } from 'zod'
import { runProgram } from '#platform/run-program.ts'

export type Python = { version: string; library: string }

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
