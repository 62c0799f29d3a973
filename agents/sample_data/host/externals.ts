import type { SampledSignature } from '#languages/python/sampled-signature.ts'
import { type SampleFormat, samplePathsOf, type SamplePlace, samplePlace } from '#languages/python/sample-place.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import type { PythonReader } from '#stages/operate/evidence/python-facts.ts'
import { readSignature } from './checks.ts'
import { faultsOfSamples, maxSampleBytes, readSamples, type Samples, writeSampleFile } from './checks/sample-file.ts'
import { type Workspace, refusal } from '#stages/operate/workspace/open-workspace.ts'
import { textReader } from '#stages/operate/workspace/search-files.ts'
import type { AttemptPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { trySamples } from './externals/try-samples.ts'
import type { TargetNode } from '#stages/operate/tools/target-node.ts'
import { pythonImport } from '#stages/operate/tools/tests/test-imports.ts'

type SampleDeps = { python: PythonReader; programs: Pick<AttemptPrograms, 'run'> }

/** `describe_parameters` and `write_samples`: what the attempt's node may be called with, and a file of cases for it. */
export function sampleExternals(workspace: Workspace, target: Pick<TargetNode, 'node'>, deps: SampleDeps) {
  return {
    async describe_parameters([format]) {
      const { node } = target
      const { signature, schema, unconstrained, leftOut } = await signatureOf(workspace, target, deps)
      const file = placeOf(workspace, target, format)
      return {
        path: node.path,
        qualified_name: node.qualifiedName,
        kind: node.kind,
        signature,
        schema,
        unconstrained,
        left_out: leftOut,
        samples: existing(workspace, file) ?? null,
        format: file.format,
      }
    },
    async write_samples([valid, invalid, format]) {
      const { node } = target
      const signature = await signatureOf(workspace, target, deps)
      const targetFile = placeOf(workspace, target, format)
      const there = existing(workspace, targetFile)
      if (there !== undefined) throw refusal(`there are samples already, in ${there}, which stay as they are`)
      const read = readSamples({ valid, invalid })
      const faults = read.kind === 'faulty' ? read.faults : faultsOfSamples(read.value, signature)
      if (read.kind === 'faulty' || faults.length > 0) throw refusal(faults.join('\n'))
      const textOf = (cases: Samples['valid']) => {
        const whole = { ...read.value, valid: cases }
        const file = { source: `${node.path}::${node.qualifiedName}`, signature: signature.signature, ...whole }
        return writeSampleFile(file, signature, targetFile.format)
      }
      const bytes = Buffer.byteLength(textOf(read.value.valid))
      if (bytes > maxSampleBytes)
        throw refusal(`the file would have ${bytes} bytes; at most ${maxSampleBytes} are allowed`)
      const { taken, leftOut, called } = await takenByCode(read.value, { node, workspace }, deps)
      await workspace.writeText(targetFile.path, textOf(taken))
      const counts = { valid: taken.length, invalid: read.value.invalid.length, called }
      return { path: targetFile.path, ...counts, left_out: leftOut }
    },
  } satisfies Record<string, ExternalFunction>
}

type Taken = { taken: Samples['valid']; leftOut: { name: string; raises: string }[]; called: number }

/** The valid cases but for those that the code refuses when it is called with them. A file that no other can import is not called. */
async function takenByCode(
  { valid }: Samples,
  { node, workspace }: Pick<TargetNode, 'node'> & { workspace: Workspace },
  { programs }: SampleDeps,
): Promise<Taken> {
  const importHere = pythonImport(node, workspace)
  if (importHere === undefined) return { taken: valid, leftOut: [], called: 0 }
  const cases = valid.map((sample) => sample.arguments)
  const of = { importHere, qualifiedName: node.qualifiedName, cases }
  const { tried, raised } = await trySamples(of, programs.run)
  const leftOut = valid.flatMap(({ name }, at) => {
    const raises = raised.get(at)
    return raises === undefined ? [] : { name, raises }
  })
  if (leftOut.length === valid.length) {
    const shown = leftOut.map(({ name, raises }) => `"${name}": ${raises}`)
    throw refusal(`the code itself refuses every valid case: ${shown.join('; ')}`)
  }
  return { taken: valid.filter((_, at) => !raised.has(at)), leftOut, called: tried }
}

async function signatureOf(
  workspace: Workspace,
  { node }: Pick<TargetNode, 'node'>,
  { python }: SampleDeps,
): Promise<SampledSignature> {
  if (node.language !== 'python') throw refusal('signatures are read of Python only')
  const answer = await readSignature(node, textReader(workspace), python)
  if (answer.kind === 'unfit') throw refusal(`${node.qualifiedName} ${answer.reason}`)
  return answer.signature
}

function placeOf(workspace: Workspace, { node }: Pick<TargetNode, 'node'>, format: unknown): SamplePlace {
  return samplePlace(node, (folder) => workspace.list(folder), formatNamed(format))
}

function formatNamed(format: unknown): SampleFormat | 'auto' {
  if (format === undefined || format === null || format === 'auto') return 'auto'
  if (format === 'json' || format === 'yaml') return format
  throw refusal(`format must be auto, json or yaml, got: ${JSON.stringify(format)}`)
}

function existing(workspace: Workspace, place: SamplePlace): string | undefined {
  return samplePathsOf(place).find((path) => workspace.exists(path))
}
