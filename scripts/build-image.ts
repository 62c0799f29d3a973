import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { bundledPackages } from './build-package.ts'

/**
 * `node scripts/build-image.ts FOLDER` puts into FOLDER what the container image has in `/app`: the bundle, the packages that
 * it needs beside itself, and of these only what is read at run time. infra/Dockerfile runs it; a test starts the
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

/** Oxlint's rules that need types: for our own check, which alone has the sources that a type needs. */
const onlyForTools = /\boxlint-tsgolint\b/

const Lock = z.object({ packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional() })) })

const { packages: locked } = Lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))

/** Folders of the packages beside the bundle; of packages for other platforms none is installed. */
const runtimePackages = Object.entries(locked).flatMap(([path, { dev }]) =>
  path !== '' && dev !== true && !onlyForTools.test(path) && existsSync(join(root, path)) ? [path] : [],
)

rmSync(out, { recursive: true, force: true })
// The types are for those who write against the client.
cpSync(join(root, 'dist'), join(out, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.d.ts') })
const own = [
  'package.json',
  'LICENSE',
  'scripts/service.mjs',
  'scripts/healthcheck.mjs',
  'cli/remora.mjs',
  ...globSync('platform/*.mjs', { cwd: root }),
]
for (const path of own) cpSync(join(root, path), join(out, path))
for (const path of runtimePackages) {
  const files = globSync('**', { cwd: join(root, path), withFileTypes: true, exclude: ['node_modules'] })
  for (const entry of files) {
    const file = join(entry.parentPath, entry.name).slice(root.length)
    if (!entry.isFile() || unread.test(file)) continue
    mkdirSync(dirname(join(out, file)), { recursive: true })
    copyFileSync(join(root, file), join(out, file))
  }
}

const Sbom = z.looseObject({
  packages: z.array(z.looseObject({ SPDXID: z.string(), packageFileName: z.string() })),
  relationships: z.array(z.looseObject({ spdxElementId: z.string(), relatedSpdxElement: z.string() })),
})

/** Leaves out of npm's list for scanners the tools that nothing in the image comes from. */
function packagesOfImage(): z.infer<typeof Sbom> {
  const ask = ['sbom', '--package-lock-only', '--sbom-format=spdx']
  const sbom = Sbom.parse(JSON.parse(execFileSync('npm', ask, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })))
  const present = new Set(['', ...bundledPackages, ...runtimePackages])
  const absent = sbom.packages.filter(({ packageFileName }) => !present.has(packageFileName))
  const absentIds = new Set(absent.map(({ SPDXID }) => SPDXID))
  return {
    ...sbom,
    packages: sbom.packages.filter(({ SPDXID }) => !absentIds.has(SPDXID)),
    relationships: sbom.relationships.filter(
      ({ spdxElementId, relatedSpdxElement }) => !absentIds.has(spdxElementId) && !absentIds.has(relatedSpdxElement),
    ),
  }
}

writeFileSync(join(out, 'sbom.spdx.json'), JSON.stringify(packagesOfImage(), undefined, 2))
