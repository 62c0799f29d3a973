import { z } from 'zod'
import { parseJson } from './json.ts'
import { folderOf, foldersUp } from './repo-path.ts'

/** Runs the tests of JavaScript and TypeScript; `path` is the package.json that says so. `other` is one that Remora cannot run. */
export type ScriptRunner =
  | { kind: 'node' }
  | { kind: 'vitest'; path: string }
  | { kind: 'other'; path: string; name: string }

const Named = z.record(z.string(), z.unknown()).catch({})
const Package = z.looseObject({ scripts: Named, dependencies: Named, devDependencies: Named })

/** Maps the names of commands to the packages that bring them; the list is empty where a package is no sign of tests. */
const others: Readonly<Record<string, readonly string[]>> = {
  jest: ['jest', '@jest/core'],
  mocha: ['mocha'],
  ava: ['ava'],
  jasmine: ['jasmine', 'jasmine-core'],
  tap: ['tap', '@tapjs/core'],
  tape: ['tape'],
  uvu: ['uvu'],
  qunit: ['qunit'],
  karma: ['karma'],
  lab: ['@hapi/lab'],
  wtr: ['@web/test-runner'],
  playwright: [],
  cypress: [],
  'react-scripts': [],
  'bun test': [],
  'deno test': [],
  'deno task test': [],
}

/** Finds the runner in the nearest package.json above `near` that names one; scripts count more than packages, which may be left over. */
export async function scriptTestRunnerOf(near: string, read: (path: string) => Promise<string>): Promise<ScriptRunner> {
  for (const folder of foldersUp(folderOf(near))) {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`
    const parsed = Package.safeParse(parseJson(await read(path))).data
    const runner = parsed && runnerOf(path, parsed)
    if (runner !== undefined) return runner
  }
  return { kind: 'node' }
}

/** A script of any length could be searched for very long. */
const maxCommandCharacters = 2_000

function runnerOf(path: string, { scripts, ...own }: z.infer<typeof Package>): ScriptRunner | undefined {
  const command = Object.entries(scripts)
    .flatMap(([name, text]) => (/^(?:test|unit)/.test(name) && typeof text === 'string' ? text : []))
    .join('\n')
    .slice(0, maxCommandCharacters)
  if (isCalled('vitest', command)) return { kind: 'vitest', path }
  if (/\bnode\b.*--test\b/.test(command)) return { kind: 'node' }
  const called = Object.keys(others).find((name) => isCalled(name, command))
  if (called !== undefined) return { kind: 'other', path, name: called.replace(/ .*/, '') }
  const packages = { ...own.dependencies, ...own.devDependencies }
  if ('vitest' in packages) return { kind: 'vitest', path }
  const named = Object.keys(others).find(
    (name) => name in own || (others[name] ?? []).some((dependency) => dependency in own.devDependencies),
  )
  return named === undefined ? undefined : { kind: 'other', path, name: named }
}

/** Is true for `node_modules/.bin/jest --ci`, but for neither `jest-lint` nor `test:lab`. */
function isCalled(name: string, command: string): boolean {
  return new RegExp(String.raw`(?:^|[\s/;&|"'])${name}(?:\.js|\.mjs|\.cjs)?(?=$|[\s;&|"'])`, 'm').test(command)
}
