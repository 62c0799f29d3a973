import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { isTestFile, productFiles, readRepositoryFile } from './source-files.ts'

/** Calls of these start a process. */
const starters = new Set(['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync'])

/** The text of each call in `text` by which a child is started that gets whatever environment this process has. */
function heirs(path: string, text: string): string[] {
  const { module } = parseSync(path, text)
  const imported = module.staticImports.filter(({ moduleRequest }) => moduleRequest.value === 'node:child_process')
  const entries = imported.flatMap((one) => one.entries)
  // Under any name; of all of the module nothing could be told.
  const whole = entries.filter(({ importName }) => importName.name === null).map(({ localName }) => localName.value)
  if (whole.length > 0) return whole
  const found = entries.flatMap(({ importName, localName }) =>
    starters.has(importName.name ?? '') ? localName.value : [],
  )
  for (const [, alias = '', name = ''] of text.matchAll(/const (\w+) = promisify\((\w+)\)/g)) {
    if (found.includes(name)) found.push(alias)
  }
  if (found.length === 0) return []
  const calls = [...text.matchAll(new RegExp(`(?<![\\w.])(?:${found.join('|')})\\(|promisify\\(\\w+\\)\\(`, 'g'))]
  return calls.map(({ index }) => callAt(text, index)).filter((call) => !namesEnvironment(call, text))
}

/** Up to the parenthesis that closes it; no string of ours before it has one alone. */
function callAt(text: string, start: number): string {
  let open = 0
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') open += 1
    if (text[at] === ')' && --open === 0 && text[at + 1] !== '(') return text.slice(start, at + 1)
  }
  return text.slice(start)
}

/** In the call itself, or in the options that it names; all of ours is none. */
function namesEnvironment(call: string, text: string): boolean {
  if (/\benv: (?:\{ \.\.\.)?process\.env\b/.test(call)) return false
  if (/\benv\b/.test(call)) return true
  const [, options] = /, (\w+)\)$/.exec(call) ?? []
  return options !== undefined && new RegExp(`const ${options} = \\{[^}]*\\benv\\b`).test(text)
}

describe('a process that ours start', () => {
  it('is given an environment of its own, so that it inherits no token, key or password', () => {
    const product = productFiles().filter((path) => !isTestFile(path))
    const found = product.flatMap((path) => heirs(path, readRepositoryFile(path)).map((call) => `${path}: ${call}`))
    expect(found).toEqual([])
  })

  it.each([
    [`spawn('git', ['status'], { cwd })`, 1],
    [`spawn('git', ['status'], { cwd, env: {} })`, 0],
    [`const run = promisify(execFile)\nawait run('git', ['status'])`, 1],
    [`await promisify(execFile)(process.execPath, args, { env: {} })`, 0],
    [`const options = { cwd, env }\nexecFile('git', args, options)`, 0],
    [`/a/.exec(text)`, 0],
    [`spawn('git', [], { env: process.env })`, 1],
    [`spawn('git', [], { env: { ...process.env, A: '1' } })`, 1],
    [`spawn('git', [], { env: { ...gitEnv(env), A: '1' } })`, 0],
    [`import { spawn as run } from 'node:child_process'\nrun('git', [])`, 1],
    [`import * as processes from 'node:child_process'`, 1],
  ])('counts in %s', (code, count) => {
    const text = `import { execFile, spawn } from 'node:child_process'\n${code}`
    expect(heirs('a.ts', text)).toHaveLength(count)
  })
})
