import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { copyLibrary, findPython } from '../agreement/python-ast.ts'
import { unpackSubject } from './subjects.ts'

/** Sources as somebody has them, in a folder of their own; `linter` is the program whose rules are checked there by default. */
export type RealTree = {
  name: string
  folder: string
  language: 'python' | 'typescript'
  linter: 'ruff' | 'oxlint'
  /** Its source files of this language. */
  files: number
}

const typescript = {
  name: 'matrix-js-sdk 37.5.0',
  from: {
    kind: 'npm',
    package: 'matrix-js-sdk',
    version: '37.5.0',
    file: 'matrix-js-sdk-37.5.0.tgz',
    sha256: '014037b1d756637b7993fa8a57dfb4cf8ef65eff85300da61e5c22de3673985f',
  },
} as const

/** The standard library of this machine's `python3`, and the sources that an npm package ships beside the compiled ones in `lib`. */
export async function realTrees(dir: string, { quick }: { quick: boolean }): Promise<RealTree[]> {
  const python = await findPython('python3')
  if (python === undefined) throw new Error('there is no python3 here, whose standard library is measured')
  const library = join(dir, 'python')
  await copyLibrary(quick ? join(python.library, 'asyncio') : python.library, library)
  const client = join(dir, 'typescript')
  await unpackSubject(typescript, client, join(dir, 'cache'))
  await rm(join(client, 'lib'), { recursive: true })
  if (quick) await rm(join(client, 'src/client.ts'))
  return [
    {
      name: `standard library of Python ${python.version}`,
      folder: library,
      language: 'python',
      linter: 'ruff',
      files: await countFiles(library, '.py'),
    },
    {
      name: typescript.name,
      folder: client,
      language: 'typescript',
      linter: 'oxlint',
      files: await countFiles(client, '.ts'),
    },
  ]
}

async function countFiles(folder: string, ending: string): Promise<number> {
  return (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(ending)).length
}
