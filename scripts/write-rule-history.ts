import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ruffVersion } from '#languages/lint/lint-text.ts'

/** The rules that `--select ALL` enables in one Ruff: names by code, or by name for preview rules without a code. */
type Rules = ReadonlyMap<string, string>
type Ruff = { version: string; minor: number; stable: Rules; preview: Rules }

/** Rules that replaced a part of an older rule, which was enabled before them and no longer exists. */
const partsOfOlder = new Set(['ASYNC210', 'ASYNC220', 'ASYNC221', 'ASYNC222', 'ASYNC230', 'ASYNC251'])

/**
 * `node scripts/write-rule-history.ts RUFF…`: writes languages/lint/configuration/rule-history.ts. The arguments are programs of Ruff:
 * the version that we run, and the newest patch of every minor version from 0.4 to the one before it (CONTRIBUTING.md).
 */
function writeRuleHistory(programs: readonly string[]): void {
  const ruffs = programs.map(readRuff).toSorted((a, b) => a.minor - b.minor)
  const run = ruffs.at(-1)
  if (run?.version !== ruffVersion()) throw new Error(`the newest of the programs must be Ruff ${ruffVersion()}`)
  if (ruffs.some(({ minor }, index) => minor !== index + 4))
    throw new Error('one program for each minor version from 0.4')
  const text = `/** Written by scripts/write-rule-history.ts from this Ruff and the ones before it: not to be edited. */
export const historyOfRuff = '${run.version}'

/** By the minor version of Ruff 0.x since which they are on without preview, the rules that became so after 0.4. */
export const stableSince: Readonly<Record<number, string>> = {
${entries(ruffs, ({ stable }) => stable)}}

/** By the version since which they are on in preview, the rules that Ruff 0.4 did not know. */
export const previewSince: Readonly<Record<number, string>> = {
${entries(ruffs, ({ preview }) => preview)}}
`
  writeFileSync(new URL('../languages/lint/configuration/rule-history.ts', import.meta.url), text)
}

function readRuff(program: string): Ruff {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' })
    .trim()
    .replace(/^ruff /, '')
  return {
    version,
    minor: Number(version.split('.')[1]),
    stable: rulesOn(program, []),
    preview: rulesOn(program, ['--preview']),
  }
}

function rulesOn(program: string, preview: readonly string[]): Rules {
  const folder = mkdtempSync(join(tmpdir(), 'remora-ruff-'))
  try {
    writeFileSync(join(folder, 'a.py'), '')
    const args = ['check', '--isolated', '--no-cache', '--select', 'ALL', ...preview, '--show-settings', 'a.py']
    const settings = execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const enabled = /^linter\.rules\.enabled = \[(?<rules>[^\]]*)/m.exec(settings)?.groups?.['rules'] ?? ''
    const rules = enabled.matchAll(/(?<name>[a-z0-9-]+)(?: \((?<code>[A-Z]+\d+)\))?,/g)
    return new Map([...rules].map(([, name = '', code = name]) => [code, name]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A line for each version: the rules of the newest Ruff that are on since then. */
function entries(ruffs: readonly Ruff[], rulesOf: (ruff: Ruff) => Rules): string {
  const [oldest, ...later] = ruffs
  const newest = ruffs.at(-1)
  if (oldest === undefined || newest === undefined) return ''
  const codes = new Map<number, string[]>()
  for (const [code, name] of rulesOf(newest)) {
    // A rule that gets another code keeps its name, but names may change, too.
    const isOn = (ruff: Ruff) => rulesOf(ruff).has(code) || [...rulesOf(ruff).values()].includes(name)
    if (isOn(oldest) || partsOfOlder.has(code)) continue
    const minor = later.find(isOn)?.minor ?? newest.minor
    codes.set(minor, [...(codes.get(minor) ?? []), code])
  }
  const lines = [...codes]
    .toSorted(([a], [b]) => a - b)
    .map(([minor, of]) => `  ${minor}:\n    ${literal(of.toSorted())},\n`)
  return lines.join('')
}

/** Codes as one string, in lines of at most 120 characters. */
function literal(codes: readonly string[]): string {
  const lines = [...codes.join(' ').matchAll(/.{1,108}(?: |$)/g)].map(([line]) => `'${line}'`)
  return lines.join(' +\n    ')
}

writeRuleHistory(process.argv.slice(2))
