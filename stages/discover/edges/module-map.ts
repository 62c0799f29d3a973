import { basename } from 'node:path/posix'
import { z } from 'zod'
import { undefinedOn } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { parseJsonWithComments } from '#platform/json-with-comments.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import type { SourceTree } from '../choose-files.ts'
import { pathJudge } from '../unwanted/unwanted-path.ts'

/** A module of the repository: its files, and the folder of its submodules. */
export type Module = { paths: readonly string[]; folder?: string }

/** Holds what is needed to find the file of a module. Folders have no slash at the end; the root is `''`. */
export type ModuleMap = {
  paths: ReadonlySet<string>
  folders: ReadonlySet<string>
  /** Go files by folder, sorted, without test files. */
  goPackages: ReadonlyMap<string, readonly string[]>
  /** Folder of a `go.mod` → its module path. */
  goModules: ReadonlyMap<string, string>
  /** Folders that contain a Python package and are not one themselves: absolute imports may start there. */
  pythonRoots: readonly string[]
  /** Folder of a `package.json` → its settings of imports. */
  nodePackages: ReadonlyMap<string, NodePackage>
  /** Folder of a `tsconfig.json` → its path aliases, relative to that folder. */
  pathAliases: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const moduleFiles = new Set(['go.mod', 'package.json', 'tsconfig.json', 'jsconfig.json'])

export function isModuleFile(path: string): boolean {
  return moduleFiles.has(basename(path))
}

/** Conditions are tried in the order they are written, and only plain targets are followed. */
const Target = z.union([z.string(), z.record(z.string(), z.unknown())])
const NodePackage = z.object({
  name: z.string().optional().catch(undefined),
  imports: z.record(z.string(), Target).catch({}),
  exports: Target.optional().catch(undefined),
  main: z.string().optional().catch(undefined),
})
export type NodePackage = z.infer<typeof NodePackage>

const TsConfig = z.object({
  compilerOptions: z.object({
    baseUrl: z.string().default('.'),
    paths: z.record(z.string(), z.array(z.string())),
  }),
})

export function inFolder(folder: string, path: string): string {
  return folder === '' ? path : path === '' ? folder : `${folder}/${path}`
}

export function mapModules(paths: readonly string[], texts: ReadonlyMap<string, string>): ModuleMap {
  const all = new Set(paths)
  const go = paths.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).toSorted()
  const isPackage = (folder: string) => all.has(inFolder(folder, '__init__.py'))
  const packages = paths.filter((path) => basename(path) === '__init__.py').map(folderOf)
  const roots = packages.map(folderOf).filter((folder) => !isPackage(folder))
  const ofName = (name: string) => [...texts].filter(([path]) => basename(path) === name)
  return {
    paths: all,
    folders: new Set(paths.flatMap((path) => foldersUp(folderOf(path)))),
    goPackages: Map.groupBy(go, folderOf),
    goModules: new Map(
      ofName('go.mod').map(([path, text]) => [folderOf(path), /^module\s+"?([^\s"]+)/m.exec(text)?.[1] ?? '']),
    ),
    pythonRoots: [...new Set(['', 'src', ...roots])].toSorted(),
    nodePackages: new Map(
      ofName('package.json').flatMap(([path, text]) => {
        const read = NodePackage.safeParse(parseJson(text)).data
        return read === undefined ? [] : [[folderOf(path), read] as const]
      }),
    ),
    pathAliases: new Map([...ofName('jsconfig.json'), ...ofName('tsconfig.json')].flatMap(aliasesOf)),
  }
}

function aliasesOf([path, text]: readonly [string, string]): (readonly [string, Map<string, string>])[] {
  let config: unknown
  try {
    config = parseJsonWithComments(text)
  } catch {
    return [] // TypeScript would not read it either
  }
  const read = TsConfig.safeParse(config).data
  if (read === undefined) return []
  const { baseUrl, paths } = read.compilerOptions
  const aliases = Object.entries(paths).flatMap(([alias, [target]]) =>
    target === undefined ? [] : [[alias, `${baseUrl}/${target}`] as const],
  )
  return [[folderOf(path), new Map(aliases)]]
}

const maxBytes = 1_000_000

/** The texts of the files that configure where modules lie, by path, without those that cannot be read. */
export async function readModuleFiles(
  { files, rules }: SourceTree,
  read: (hash: string) => Promise<Uint8Array>,
): Promise<Map<string, string>> {
  const judge = pathJudge({ paths: files.map((file) => file.path), rules, include: new Set() })
  const texts = new Map<string, string>()
  for (const { path, hash, size } of files) {
    if (!isModuleFile(path) || size > maxBytes || judge.unwanted(path) !== undefined) continue
    const bytes = await read(hash).catch(undefinedOn('DISC_005'))
    if (bytes !== undefined) texts.set(path, Buffer.from(bytes).toString('utf8'))
  }
  return texts
}
