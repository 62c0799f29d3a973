import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { z } from 'zod'
import { grammarFiles } from '#languages/syntax/grammars.ts'
import { packageFile } from '#platform/package-file.ts'
import { pageModules } from './build-dashboard.ts'

/**
 * `npm pack` runs this first. The tarball carries `dist/`: a bundle of the sources and of all packages but those in
 * `dependencies`, which have native parts, and the files that the code reads by path. A clone never uses it.
 *
 * Services, threads and children keep their paths, and every module of ours finds files as if it were at its own path.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()), imports: z.record(z.string(), z.string()) })
const { dependencies, imports } = Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
const Package = z.object({ name: z.string(), version: z.string(), license: z.unknown().optional() })

/** Files of bundled packages that are read by `packageFile`. */
const packageFiles = [...grammarFiles, 'swagger-ui-dist/swagger-ui.css', 'swagger-ui-dist/swagger-ui-bundle.js']

/** Stands for the way from a chunk to `dist`, before it is known which chunk a module is in. */
const wayToDist = '/WAY-TO-DIST/'
const ownEntry = /(new URL\(')([\w./-]+)\.ts'(?=, import\.meta\.url)/g

function ownPaths(mains: readonly string[]): Plugin {
  const entries = new Set(mains)
  return {
    name: 'own-paths',
    transform(code, id) {
      const path = relative(root, id)
      if (/^(?:node_modules|\.\.)\//.test(path) || !code.includes('import.meta.url')) return null
      for (const [, , to = ''] of code.matchAll(ownEntry)) {
        const entry = join(dirname(path), to)
        if (!entries.has(entry))
          this.emitFile({ type: 'chunk', id: join(root, `${entry}.ts`), fileName: `${entry}.js` })
        entries.add(entry)
      }
      return code
        .replaceAll(ownEntry, "$1$2.js'")
        .replaceAll('import.meta.url', `new URL('${wayToDist}${path}', import.meta.url).href`)
    },
    renderChunk: (code, { fileName }) =>
      code.replaceAll(wayToDist, `./${'../'.repeat(fileName.split('/').length - 1)}`),
  }
}

/** Returns the ids of all modules in the bundle. */
async function writeBundle(): Promise<string[]> {
  const mains = globSync('{cli,services/*}/main.ts', { cwd: root }).map((path) => path.slice(0, -'.ts'.length))
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(mains.map((path) => [path, `${path}.ts`])),
    external: Object.keys(dependencies).map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [ownPaths(mains)],
    checks: { eval: false }, // of a package
  })
  const { output } = await bundle.write({
    dir: dist,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await bundle.close()
  return output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
}

/** What is no code in the folders that `imports` of package.json names, and what modules read from other places. */
function copyFilesReadByPath(): void {
  const folders = new Set(Object.values(imports).map((place) => place.split('/')[1] ?? ''))
  folders.delete('testing')
  const files = globSync(
    [...folders].map((folder) => `${folder}/**/*.{json,lua,md,py,pym,scm,toml,txt,yaml}`),
    {
      cwd: root,
      exclude: ['**/expected/**'],
    },
  )
  for (const path of [...files, 'queries', 'package.json'])
    cpSync(join(root, path), join(dist, path), { recursive: true })
  for (const name of packageFiles) {
    const [from, to] = [packageFile(name), join(dist, 'packages', name)]
    const home = folderOfPackage(from)
    cpSync(from, to)
    cpSync(join(home, 'package.json'), join(to.slice(0, home.length - from.length), 'package.json'))
  }
}

function folderOfPackage(file: string): string {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? root
}

/** Their licenses want that the package carries their texts. */
function writeLicenses(folders: readonly string[]): void {
  const licenses = folders.map((folder) => {
    const { name, version, license } = Package.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
    const texts = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    const head = `${name} ${version}, ${JSON.stringify(license)}`
    return [head, '-'.repeat(head.length), ...texts.map((file) => readFileSync(join(folder, file), 'utf8'))].join('\n')
  })
  writeFileSync(join(dist, 'licenses-of-packages.txt'), licenses.join('\n\n'))
}

rmSync(dist, { recursive: true, force: true })
cpSync(join(root, 'dashboard/dist'), join(dist, 'dashboard/dist'), { recursive: true })
const filesOfPackages = [...(await writeBundle()), ...pageModules, ...packageFiles.map(packageFile)].filter((file) =>
  file.includes('/node_modules/'),
)
copyFilesReadByPath()
execFileSync(process.execPath, [join(root, 'scripts/build-client.ts'), dist], { stdio: 'inherit' })
const folders = [...new Set(filesOfPackages.map(folderOfPackage))].toSorted()
writeLicenses(folders)

/** Folders of the packages that `dist` has something of, as the lock file names them. */
export const bundledPackages: readonly string[] = folders.map((folder) => relative(root, folder))
