import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { grammarFile, languages } from '#languages/syntax/grammars.ts'

/**
 * `node scripts/build-image.ts FOLDER` puts into FOLDER what the container image has in `/app`: the sources as JavaScript, the
 * packages that they need at run time, and of these only what is read at run time. infra/Dockerfile runs it; a test starts the
 * services from such a folder without Docker.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const [out] = process.argv.slice(2)
if (out === undefined) {
  process.stderr.write('usage: node scripts/build-image.ts FOLDER\n')
  process.exit(2)
}

/** Types, maps, documentation, and the sources of what is compiled: none of it is read by a running service. */
const unread =
  /(?:\.(?:[cm]?ts|map|test\.js|md|markdown|flow|c|cc|h|hpp|gyp|gypi|o|scm)|\/(?:README|CHANGELOG|HISTORY)[^/]*)$/i
/** Grammars come with wasm files of other languages, too. */
const grammarWasm = /tree-sitter-[\w-]+\.wasm$/
const usedWasm = new Set(languages.map(grammarFile))

const Lock = z.object({
  packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional(), version: z.string().optional() })),
})

/** Folders of the packages that a service may need; of packages for other platforms none is installed. */
function runtimePackages(): string[] {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  return Object.entries(packages).flatMap(([path, { dev }]) =>
    path !== '' && dev !== true && existsSync(join(root, path)) ? [path] : [],
  )
}

function isRead(file: string): boolean {
  if (unread.test(file)) return false
  return !grammarWasm.test(file) || usedWasm.has(join(root, file))
}

rmSync(out, { recursive: true, force: true })
execFileSync(process.execPath, [join(root, 'scripts/build-package.ts')])
cpSync(join(root, 'dist'), join(out, 'dist'), { recursive: true })
const own = [
  'package.json',
  'LICENSE',
  'scripts/service.mjs',
  'scripts/healthcheck.mjs',
  'cli/remora.mjs',
  ...globSync('platform/*.mjs', { cwd: root }),
]
for (const path of own) cpSync(join(root, path), join(out, path))
for (const path of runtimePackages()) {
  const files = globSync('**', { cwd: join(root, path), withFileTypes: true, exclude: ['node_modules'] })
  for (const entry of files) {
    const file = join(entry.parentPath, entry.name).slice(root.length)
    // The Node binary is elsewhere in the image, for its shell and its health check as well.
    if (!entry.isFile() || !isRead(file) || file === 'node_modules/node/bin/node') continue
    mkdirSync(dirname(join(out, file)), { recursive: true })
    copyFileSync(join(root, file), join(out, file))
  }
}
