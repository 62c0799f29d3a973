import type { CodeNode } from '#domain/code-node.ts'
import type { NodeId } from '#domain/ids.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { folderOf } from '#domain/repo-path.ts'
import { type ScriptRunner, scriptTestRunnerOf } from '#domain/script-test-runner.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { exportsOf } from '#languages/script/exported-names.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { always, type SurveyRule, workUnless } from '#stages/plan/survey-rule.ts'

/** There is work on public functions and methods that no test names. */
export const untested: SurveyRule = {
  async open({ repository }, takes) {
    if (repository === undefined) return () => ({ find: always })
    const { nodes, files, read } = repository
    const { reasonToSkip, runnerOf } = await surveyTests({ nodes: nodes.filter(takes), files: await files(), read })
    return () => ({ find: (node) => workUnless(reasonToSkip(node)), runnerOf })
  },
}

export type TestSurvey = {
  /** Says why no test is to be written for a node; undefined for one that tests can reach and none names. */
  reasonToSkip(node: CodeNode): string | undefined
  runnerOf(path: string): ScriptRunner | undefined
}

type SurveyInput = {
  nodes: readonly CodeNode[]
  /** All of the snapshot, also those whose nodes the run does not have. */
  files: readonly { path: string; hash: string; size: number }[]
  read(hash: string): Promise<Uint8Array>
}

const atOnce = 8
const maxTestBytes = 1_000_000
const maxFileBytes = 4_000_000
const families: Readonly<Record<string, string>> = {
  python: 'python',
  javascript: 'script',
  typescript: 'script',
  tsx: 'script',
}

/** Goes by words alone: a function counts as tested when a test file of its language names it, a method with its class. */
export async function surveyTests({ nodes, files, read }: SurveyInput): Promise<TestSurvey> {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const tests = files.filter(
    ({ path, size }) => familyOf(path) !== undefined && purposeOf(path) === 'test' && size <= maxTestBytes,
  )
  const words = await mapBounded(tests, atOnce, async ({ path, hash }) => {
    return { family: familyOf(path), words: new Set((await textOf(hash, read)).match(/[\w$]+/g)) }
  })
  const paths = [...new Set(nodes.map(({ path }) => path))].filter((path) => purposeOf(path) === 'source')
  const texts = await mapBounded(paths, atOnce, async (path): Promise<[string, Buffer]> => {
    const file = byPath.get(path)
    const isRead = file !== undefined && file.size <= maxFileBytes
    return [path, isRead ? Buffer.from(await read(file.hash)) : Buffer.alloc(0)]
  })
  const known = {
    sources: new Map(texts),
    exported: new Map(
      texts.flatMap(([path, bytes]) =>
        familyOf(path) === 'script' ? [[path, exportsOf(bytes.toString())] as const] : [],
      ),
    ),
    kinds: new Map(nodes.map(({ nodeId, kind }) => [nodeId, kind])),
    isNamed(node: CodeNode) {
      const [owner = '', ...inside] = node.qualifiedName.split('.')
      const needed = inside.length === 0 ? [node.name] : [node.name, owner]
      const family = familyOf(node.path)
      return words.some((testFile) => testFile.family === family && needed.every((word) => testFile.words.has(word)))
    },
  }
  const runners = await runnersOf(
    paths.filter((path) => familyOf(path) === 'script'),
    async (path) => {
      const file = byPath.get(path)
      return file === undefined || file.size > maxTestBytes ? '' : textOf(file.hash, read)
    },
  )
  return {
    reasonToSkip: (node) => reasonAgainst(node, known),
    runnerOf: (path) => (familyOf(path) === 'script' ? runners.get(folderOf(path)) : undefined),
  }
}

async function runnersOf(
  paths: readonly string[],
  textAt: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, ScriptRunner>> {
  const firsts = new Map(paths.map((path) => [folderOf(path), path]))
  const runners = [...firsts].map(async ([folder, path]) => [folder, await scriptTestRunnerOf(path, textAt)] as const)
  return new Map(await Promise.all(runners))
}

type Known = {
  sources: ReadonlyMap<string, Buffer>
  exported: ReadonlyMap<string, ReadonlyMap<string, unknown>>
  kinds: ReadonlyMap<NodeId, string>
  isNamed(node: CodeNode): boolean
}

function reasonAgainst(node: CodeNode, { sources, exported, kinds, isNamed }: Known): string | undefined {
  const purpose = purposeOf(node.path)
  if (purpose !== 'source') return `its file is no product code (${purpose})`
  if (node.path.endsWith('.pyi') || node.path.endsWith('.d.ts')) return 'its file is a stub'
  const names = node.qualifiedName.split('.')
  if (names.some((name) => /^[_#]/.test(name) || name === 'constructor')) return 'it is not public'
  const parent = node.parentId === null ? undefined : kinds.get(node.parentId)
  if (names.length > 2 || parent === 'function' || parent === 'method') return 'it is inside another definition'
  const source = sources.get(node.path)
  if (source === undefined || source.length === 0) return 'its file is too large'
  if (exported.get(node.path)?.has(names[0] ?? '') === false) return 'its module does not export it'
  const reason = node.language === 'python' ? reasonByText(node, source) : undefined
  const abstract = names.length > 1 && isOfAbstractClass(node, source) ? 'its class is abstract' : undefined
  return reason ?? abstract ?? (isNamed(node) ? 'a test names it' : undefined)
}

const lineBefore = 300

function reasonByText({ startByte, endByte }: CodeNode, source: Buffer): string | undefined {
  const text = source.subarray(startByte, endByte).toString()
  const before = source.subarray(Math.max(0, startByte - lineBefore), startByte).toString()
  const decorators = `${/(?:^[ \t]*@[^\n]*\n)+[ \t]*$/m.exec(before)?.[0] ?? ''}${/^(?:[ \t]*@[^\n]*\n)*/.exec(text)?.[0] ?? ''}`
  if (/@(?:\w+\.)*(?:overload|abstractmethod)\b/.test(decorators)) return 'it is only declared'
  if (/@\w+\.(?:setter|deleter)\b/.test(decorators)) return 'it is part of a property'
  return /:\s*(?:\.\.\.|pass)\s*$/.test(text) ? 'it does nothing' : undefined
}

/** Is true when a method needs an object of a class of which there can be none: in Python, one with abstract methods of its own. */
function isOfAbstractClass({ language, qualifiedName, startByte, endByte }: CodeNode, source: Buffer): boolean {
  const owner = (qualifiedName.split('.')[0] ?? '').replaceAll('$', String.raw`\$`)
  const before = source.subarray(0, startByte).toString()
  if (language !== 'python') {
    const isStatic = /^(?:(?:public|protected|override|async)\s+)*static\b/.test(
      source.subarray(startByte, endByte).toString(),
    )
    return !isStatic && new RegExp(String.raw`\babstract\s+class\s+${owner}(?![\w$])`).test(before)
  }
  if (/@(?:static|class)method\s*(?:@[^\n]*\s*)*$/.test(before.slice(-lineBefore))) return false
  const [, body = ''] =
    new RegExp(String.raw`^class ${owner}\b[^\n]*\n((?:[ \t)#][^\n]*\n|\n)*)`, 'm').exec(`${source.toString()}\n`) ?? []
  return /^[ \t]+@(?:\w+\.)*abstract(?:method|property|classmethod|staticmethod)\b/m.test(body)
}

function familyOf(path: string): string | undefined {
  return families[languageOf(path) ?? '']
}

async function textOf(hash: string, read: SurveyInput['read']): Promise<string> {
  return Buffer.from(await read(hash)).toString()
}
