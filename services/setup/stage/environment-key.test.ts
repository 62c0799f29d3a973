import { expect, it } from 'vitest'
import { RepoPath } from '#domain/repo-path.ts'
import { environmentKey, type KeyParts } from './setup-stage.ts'

const parts: KeyParts = {
  command: 'pip install -e .',
  hasPython: true,
  toolchain: 'Python 3.11',
  registries: ['pypi.org'],
  variables: {},
}
const keyOf = (files: Record<string, string>, more: Partial<KeyParts> = {}) =>
  environmentKey(
    Object.entries(files).map(([path, hash]) => ({ path: RepoPath.parse(path), hash, executable: false, size: 1 })),
    { ...parts, ...more },
  )
const files = { 'pyproject.toml': 'a', 'src/a.py': 'b', 'web/package-lock.json': 'c', 'requirements/dev.txt': 'd' }

it('is the same for the same manifests, whatever the code and the order', () => {
  expect(keyOf({ ...files, 'src/a.py': 'other' })).toBe(keyOf(files))
  expect(keyOf(Object.fromEntries(Object.entries(files).toReversed()))).toBe(keyOf(files))
})

it.each(['pyproject.toml', 'web/package-lock.json', 'requirements/dev.txt'])('is another when %s changes', (path) => {
  expect(keyOf({ ...files, [path]: 'other' })).not.toBe(keyOf(files))
})

it.each([
  ['./tools/setup.sh --fast', 'tools/setup.sh'],
  ['cd tools && sh ./setup.sh', 'tools/setup.sh'],
  [`bash -c 'python3 "tools/install.py"'`, 'tools/install.py'],
  ['pip install -c../pins.txt --requirement=tools/pins.lock', 'tools/pins.lock'],
  ['cargo build', 'native/Cargo.toml'],
  ['pip install -e .', 'cmake/find.cmake'],
])('of %j is another when %s changes', (command, path) => {
  const before = { ...files, [path]: 'a' }
  expect(keyOf({ ...before, [path]: 'other' }, { command })).not.toBe(keyOf(before, { command }))
  expect(keyOf({ ...before, 'src/a.py': 'other' }, { command })).toBe(keyOf(before, { command }))
})

it('is another for other tools, registries, variables, commands, and places of a manifest', () => {
  const others = [
    keyOf(files, { toolchain: 'Python 3.12' }),
    keyOf(files, { hasPython: false }),
    keyOf(files, { registries: [] }),
    keyOf(files, { variables: { PIP_INDEX_URL: 'https://own.example' } }),
    keyOf(files, { command: 'pip install -e .[test]' }),
    keyOf({ ...files, 'setup.cfg': 'e' }),
    keyOf({ 'src/a.py': 'b', 'web/package-lock.json': 'c', 'requirements/dev.txt': 'd', 'sub/pyproject.toml': 'a' }),
  ]
  expect(new Set([keyOf(files), ...others]).size).toBe(8)
})
