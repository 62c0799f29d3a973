import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const program = fileURLToPath(new URL('read-sources.py', import.meta.url))

const Definition = z.strictObject({
  name: z.string(),
  kind: z.enum(['class', 'function', 'method']),
  line: z.int(),
  docstring: z.tuple([z.int(), z.int()]).nullable(),
  apart: z.string().nullable(),
})
const SourceFacts = z.strictObject({
  path: z.string(),
  head: z.string(),
  comments: z.array(z.strictObject({ line: z.int(), text: z.string() })).nullable(),
  definitions: z.array(Definition).nullable(),
})
/** One Python file; null is what Python itself cannot read of it. Lines are 1-based. */
export type SourceFacts = z.infer<typeof SourceFacts>

/** Of every .py and .pyi file below `tree`, by its path. */
export async function readSources(tree: string, python: string): Promise<Map<string, SourceFacts>> {
  const entries = await readdir(tree, { recursive: true })
  const paths = entries.filter((path) => /\.pyi?$/.test(path)).toSorted()
  const child = spawn(python, [program, tree], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.end(paths.map((path) => `${JSON.stringify(path)}\n`).join(''))
  const facts = new Map<string, SourceFacts>()
  for await (const line of createInterface({ input: child.stdout })) {
    const one = SourceFacts.parse(JSON.parse(line))
    facts.set(one.path, one)
  }
  const [code] = await ended
  if (code !== 0 || facts.size !== paths.length) throw new Error(`${program} ended with ${code}`)
  return facts
}

const vendored = /(?:^|\/)(?:vendor|vendored|_vendor|third_party|extern|externals|node_modules)\//
/** Matches only a comment in the first lines of the file. */
const generatedHead =
  /^#\s*(?:this (?:file|module) (?:was|is) )?(?:auto(?:matically |-)?)?generated (?:by|from|with)\b|^#.*(?:@generated|do not edit)/im
const migration = /(?:^|\/)migrations\/\d{4}_\w+\.py$/
const notPublic =
  /(?:^|\/)(?:tests?|testing|docs?|examples?|typing-examples|fixtures?|bench|benchmarks?|sites|scripts?|tasks)\/|(?:^|\/)(?:conftest|setup|noxfile|tasks|test_\w+)\.py$/
const privateModule = /(?:^|\/)_(?!_init__\.py$)/

/** Why no agent should touch a file, or undefined. */
export function foreignReason({ path, head }: Pick<SourceFacts, 'path' | 'head'>): string | undefined {
  if (vendored.test(path)) return 'vendored'
  if (migration.test(path)) return 'migration'
  return generatedHead.test(head) ? 'generated' : undefined
}

/** Whether a definition without a docstring is one that a maintainer would want one of: public, in a public module. */
export function isPublicModule(facts: SourceFacts): boolean {
  const { path } = facts
  if (foreignReason(facts) !== undefined || path.endsWith('.pyi')) return false
  return !notPublic.test(path) && !privateModule.test(path)
}

/** What two states of one repository hold, by path. */
export type BothSides = { before: ReadonlyMap<string, SourceFacts>; after: ReadonlyMap<string, SourceFacts> }
