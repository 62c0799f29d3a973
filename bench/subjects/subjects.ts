import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../repositories/run-command.ts'

/** A repository with tests of its own: pinned, or of this checkout. */
export type Subject = {
  name: string
  /** What its tests need: the setup of its runs, and run before the tests outside of the sandbox. */
  setup?: string
  from: { kind: 'pypi' | 'npm'; package: string; version: string; file: string; sha256: string } | { kind: 'example' }
  /** The gate of its runs, and how its tests are run outside of the sandbox. */
  tests: string
}

const unittest = 'python3 -m unittest'

export const subjects: readonly Subject[] = [
  { name: 'examples/inventory', from: { kind: 'example' }, tests: unittest },
  {
    name: 'cachetools',
    from: {
      kind: 'pypi',
      package: 'cachetools',
      version: '8.0.2',
      file: 'cachetools-8.0.2.tar.gz',
      sha256: '30ac523adfc118b51d2b2e7bad8a0ddb31370dfe2700c7f10ca224f36ccf81e0',
    },
    tests: `PYTHONPATH=src ${unittest} discover -s tests -t .`,
  },
  {
    name: 'more-itertools',
    from: {
      kind: 'pypi',
      package: 'more-itertools',
      version: '11.2.1',
      file: 'more_itertools-11.2.1.tar.gz',
      sha256: 'cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63',
    },
    tests: `${unittest} discover -s tests -t .`,
  },
  {
    name: 'shortuuid',
    from: {
      kind: 'pypi',
      package: 'shortuuid',
      version: '1.0.13',
      file: 'shortuuid-1.0.13.tar.gz',
      sha256: '3bb9cf07f606260584b1df46399c0b87dd84773e7b25912b7e391e30797c5e72',
    },
    tests: `${unittest} shortuuid.test_shortuuid`,
  },
  {
    name: '@fastify/busboy',
    from: {
      kind: 'npm',
      package: '@fastify/busboy',
      version: '3.2.6',
      file: 'fastify-busboy-3.2.6.tgz',
      sha256: 'b24b93d82fbc4fa48fa2d217b226b53eb1e46f445cc7e636e0b8858c9dd0c1ce',
    },
    tests: 'node --test',
  },
  {
    name: 'json-schema-ref-resolver',
    from: {
      kind: 'npm',
      package: 'json-schema-ref-resolver',
      version: '3.0.1',
      file: 'json-schema-ref-resolver-3.0.1.tgz',
      sha256: 'c7be635d66a8650b0720bdc5ce6779cc5b5fa0431056b67cef2068ede13dd2d3',
    },
    setup: 'npm install --omit=dev --ignore-scripts --no-audit --no-package-lock',
    tests: 'node --test',
  },
]

const example = fileURLToPath(new URL('../../examples/inventory', import.meta.url))
const fetchLimitMs = 5 * 60_000

/** Puts a fresh copy of the subject's files into `folder`; what was downloaded stays in `cache`. */
export async function unpackSubject(
  { name, from }: Pick<Subject, 'name' | 'from'>,
  folder: string,
  cache: string,
): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  if (from.kind === 'example') return cp(example, folder, { recursive: true })
  await mkdir(cache, { recursive: true })
  const file = join(cache, from.file)
  const wanted = `${from.package}${from.kind === 'pypi' ? '==' : '@'}${from.version}`
  const argv = {
    pypi: ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', '--no-binary', ':all:', '--dest', cache, wanted],
    npm: ['npm', 'pack', '--silent', '--pack-destination', cache, wanted],
  }[from.kind]
  if (!existsSync(file)) await runOrThrow(argv, cache, `${file}.fetch`)
  const found = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  if (found !== from.sha256) throw new Error(`${name}: ${from.file} has sha256 ${found}, not ${from.sha256}`)
  await mkdir(folder, { recursive: true })
  await runOrThrow(['tar', '-xzf', file, '-C', folder, '--strip-components=1'], cache, `${file}.unpack`)
}

/** With this process's own environment: installers are set up by it. */
async function runOrThrow([program = '', ...args]: string[], cwd: string, logFile: string): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).map(([key, value = '']) => [key, value]))
  const end = await runCommand({ argv: [program, ...args], cwd, env, limitMs: fetchLimitMs, logFile })
  if (end.code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${end.code}: ${end.err.slice(-1_000)}`)
}
