import { posix } from 'node:path'
import { sha256 } from '#domain/ids.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'

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
  'makefile',
  'GNUmakefile',
  'Cargo.toml',
  'Cargo.lock',
  'build.rs',
  'CMakeLists.txt',
  'meson.build',
  'meson.options',
  'meson_options.txt',
  'go.mod',
  'go.sum',
  'binding.gyp',
])
const requirements = /(?:^|[/_.-])(?:requirements|constraints)(?:[/_.-].*)?\.(?:txt|in)$/i

function isManifest(path: string): boolean {
  return manifests.has(posix.basename(path)) || path.endsWith('.cmake') || requirements.test(path)
}

/** Decides the key with the snapshot. `toolchain` says what the sandbox has of Python, Node and the system. */
export type KeyParts = {
  command: string
  hasPython: boolean
  toolchain: string
  registries: readonly string[]
  variables: object
}

/** Is equal for the same command, tools, manifests, lock files and files that the command names. */
export function environmentKey(files: SnapshotView['files'], parts: KeyParts): string {
  const words = wordsOf(parts.command)
  const isRead = (path: string) => isManifest(path) || words.some((word) => path === word || path.endsWith(`/${word}`))
  const named = files.filter(({ path }) => isRead(path)).map(({ path, hash }) => `${hash} ${path}`)
  return sha256(JSON.stringify([2, parts, named.toSorted()]))
}

function wordsOf(command: string): string[] {
  const words = command.split(/[\s'"`=;:,&|<>(){}]+/)
  return words.map((word) => posix.normalize(word).replace(/^(?:\.{0,2}\/)+/, '')).filter((word) => word !== '.')
}
