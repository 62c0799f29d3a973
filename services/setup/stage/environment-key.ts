import { posix } from 'node:path'
import { sha256 } from '#domain/ids.ts'
import type { SnapshotView } from '#objects/snapshot.ts'

/** Files that say what is to be installed, or run when it is, by their names in any folder. */
const manifests = new Set([
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'MANIFEST.in',
  'uv.lock',
  'poetry.lock',
  'pdm.lock',
  'Pipfile',
  'Pipfile.lock',
  'tox.ini',
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  '.npmrc',
  '.yarnrc.yml',
  '.python-version',
  '.node-version',
  '.nvmrc',
  'Makefile',
])
const requirements = /(?:^|[/_.-])(?:requirements|constraints)(?:[/_.-].*)?\.(?:txt|in)$/i

function isManifest(path: string): boolean {
  return manifests.has(posix.basename(path)) || requirements.test(path)
}

/** What `environmentKey` is made of besides the snapshot. `toolchain`: what the sandbox has of Python, Node and the system. */
export type KeyParts = { command: string; toolchain: string; registries: readonly string[]; variables: object }

/** Equal when a setup would make the same: the same command over the same manifests and lock files, with the same tools. */
export function environmentKey(files: SnapshotView['files'], parts: KeyParts): string {
  const named = files.filter(({ path }) => isManifest(path)).map(({ path, hash }) => `${hash} ${path}`)
  return sha256(JSON.stringify([1, parts, named.toSorted()]))
}
