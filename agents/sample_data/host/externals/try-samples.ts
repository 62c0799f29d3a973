import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { undefinedOn } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { AttemptPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'

/** Says what calls with the arguments of cases have shown; a case is named by its place among them. */
export type TriedSamples = {
  tried: number
  raised: ReadonlyMap<number, string>
}

const report = '/tmp/remora-samples.jsonl'
const wallMs = 20_000
const program = new URL('try_samples.py', import.meta.url)
const Line = z.object({ case: z.int(), raises: z.string().optional() })

/** Calls a Python definition with each of the arguments in the sandbox, but for what no data describes; calls nothing where there is no sandbox. */
export async function trySamples(
  of: { importHere: string; qualifiedName: string; cases: readonly Record<string, unknown>[] },
  run: AttemptPrograms['run'],
): Promise<TriedSamples> {
  const code = await readFile(program, 'utf8')
  const args = [report, of.importHere, of.qualifiedName, JSON.stringify(of.cases)]
  const ran = await run({ command: ['python3', '-c', code, ...args], report }, { wallMs }).catch(
    undefinedOn('TOOL_005'),
  )
  const text = Buffer.from(ran?.report ?? '').toString()
  const lines = text.split('\n').flatMap((line) => Line.safeParse(parseJson(line)).data ?? [])
  const called = lines.filter((line) => line.case >= 0 && line.case < of.cases.length)
  return {
    tried: new Set(called.map((line) => line.case)).size,
    raised: new Map(called.flatMap(({ case: at, raises }) => (raises === undefined ? [] : [[at, raises] as const]))),
  }
}
