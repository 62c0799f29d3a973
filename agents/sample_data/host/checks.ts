import { type ModuleTypes, moduleTypesOf } from '#languages/python/module-types.ts'
import { sampledSignature, type SignatureAnswer } from '#languages/python/sampled-signature.ts'
import type { CheckResult, PythonReader, ReadFile } from '#stages/operate/evidence/python-facts.ts'
import { faultsOfSamples, readSampleFile, sampledDefinition } from './checks/sample-file.ts'

const maxFiles = 200
const maxRounds = 12
const maxCharacters = 1_000_000

/** The signature of a definition, with the types of the repository's files that it needs. Never `unread`. */
export async function readSignature(
  target: { path: string; qualifiedName: string },
  readFile: ReadFile,
  python: PythonReader,
): Promise<Exclude<SignatureAnswer, { kind: 'unread' }>> {
  const known = new Map<string, ModuleTypes | null>()
  for (let round = 0; round < maxRounds; round++) {
    const isLast = round === maxRounds - 1 || known.size >= maxFiles
    const answer = sampledSignature(target, (path) => known.get(path) ?? (isLast || known.has(path) ? null : undefined))
    if (answer.kind !== 'unread') return answer
    for (const path of answer.paths.slice(0, maxFiles - known.size)) {
      const text = await readFile(path)
      const isRead = text !== undefined && text.length <= maxCharacters
      known.set(path, isRead ? python.read(text, (tree) => moduleTypesOf(tree, python)) : null)
    }
  }
  return { kind: 'unfit', reason: 'has types that lead through too many files' }
}

/** A file of samples holds: its definition is there, with this signature, accepts every valid case and refuses every invalid one. */
export async function samplesMatch(
  { path, after }: { path: string; after: string },
  readFile: ReadFile,
  python: PythonReader,
): Promise<CheckResult> {
  const read = readSampleFile(after, /\.ya?ml$/.test(path) ? 'yaml' : 'json')
  if (read.kind === 'faulty') return { fault: `it is no file of samples: ${read.faults.join('; ')}` }
  const { source, signature, valid, invalid } = read.value
  const answer = await readSignature(sampledDefinition(source), readFile, python)
  if (answer.kind === 'unfit') return { fault: `${source} ${answer.reason}` }
  if (answer.signature.signature !== signature)
    return { fault: `the signature of ${source} is ${answer.signature.signature}` }
  const [fault] = faultsOfSamples({ valid, invalid }, answer.signature)
  return { fault }
}
