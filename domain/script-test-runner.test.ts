import { expect, it } from 'vitest'
import { scriptTestRunnerOf } from './script-test-runner.ts'

const runnerOf = (near: string, packages: Record<string, object>) =>
  scriptTestRunnerOf(near, async (path) => (path in packages ? JSON.stringify(packages[path]) : ''))

const scripts = (test: string) => ({ 'package.json': { scripts: { test } } })

it.each([
  ['nyc --reporter=lcov node_modules/.bin/mocha', 'mocha'],
  ['eslint . && jest --ci', 'jest'],
  ['tap test/*.js', 'tap'],
  ['node node_modules/jest/bin/jest.js', 'jest'],
  ['bun test', 'bun'],
])('"%s" tests with %s, which nobody here can run', async (command, name) => {
  expect(await runnerOf('lib/a.js', scripts(command))).toEqual({ kind: 'other', path: 'package.json', name })
})

it.each([
  ['node --test --test-reporter=tap', 'node'],
  ['node test.js | tap-spec', 'node'],
  ['echo "Error: no test specified" && exit 1', 'node'],
  ['npm run lint && vitest run', 'vitest'],
])('"%s" tests with %s', async (command, kind) => {
  expect(await runnerOf('lib/a.js', scripts(command))).toMatchObject({ kind })
})

it('the packages tell where the script does not, as with "make test"', async () => {
  const made = (devDependencies: object) => ({ 'package.json': { scripts: { test: 'make test' }, devDependencies } })
  expect(await runnerOf('a.js', made({ mocha: '^11.0.0' }))).toMatchObject({ kind: 'other', name: 'mocha' })
  expect(await runnerOf('a.js', made({ vitest: '^4.0.0' }))).toMatchObject({ kind: 'vitest' })
  expect(await runnerOf('a.js', made({ 'eslint-plugin-jest': '1.0.0' }))).toEqual({ kind: 'node' })
})

it('a package of its own counts before the one around it, and one that says nothing leaves it to that', async () => {
  const packages = {
    'package.json': { scripts: { test: 'jest' } },
    'packages/a/package.json': { scripts: { test: 'node --test' } },
    'packages/b/package.json': { name: 'b' },
  }
  expect(await runnerOf('packages/a/src/x.ts', packages)).toEqual({ kind: 'node' })
  expect(await runnerOf('packages/b/src/x.ts', packages)).toMatchObject({ kind: 'other', path: 'package.json' })
})
