import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * `npm pack` runs this first. Node does not strip types under node_modules, so the tarball carries `dist/`: the sources
 * as JavaScript, with every line where it was, and the files that they read by path next to them. A clone never uses it.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const Manifest = z.object({ imports: z.record(z.string(), z.string()) })
const readByPath = ['queries', 'package.json']

/** Import specifiers and URLs of our own modules; only these are string literals that end in `.ts` in such places. */
const ownModule = /((?:from|import|import\(|new URL\() ?'(?:#|\.{0,2}\/?)[\w/.-]*)\.ts'/g

function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source, { mode: 'strip' }).replace(ownModule, "$1.js'")
}

/** The folders that `imports` of package.json names, and the command line, which nobody imports. */
function productFolders(): string[] {
  const { imports } = Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const folders = Object.values(imports).map((place) => place.split('/')[1] ?? '')
  return [...new Set(folders), 'cli'].filter((folder) => folder !== 'testing')
}

rmSync(dist, { recursive: true, force: true })
const sources = globSync(`{${productFolders().join(',')}}/**/*`, {
  cwd: root,
  withFileTypes: true,
  exclude: ['**/node_modules/**'],
})
for (const entry of sources) {
  const path = join(entry.parentPath, entry.name).slice(root.length)
  if (!entry.isFile() || /\.(?:test|fixture|d)\.ts$/.test(path)) continue
  const target = join(dist, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  if (path.endsWith('.ts')) writeFileSync(target, toJavaScript(readFileSync(join(root, path), 'utf8')))
  else cpSync(join(root, path), target)
}
for (const path of readByPath) cpSync(join(root, path), join(dist, path), { recursive: true })
