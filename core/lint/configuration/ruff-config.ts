import { nameOf, stringOf, stringsOf, tableAt, type Table } from './config-tree.ts'
import { combinedLint, lastWith, type RuffLayer } from './ruff-chain.ts'
import { ruffFiles, type RuffFiles } from './ruff-files.ts'

/** What one configuration of Ruff says, with all that it extends. */
export type RuffConfig = {
  /** As people name it: `src/ruff.toml`, `pyproject.toml [tool.ruff]`. */
  source: string
  folder: string
  chain: readonly RuffLayer[]
  files: RuffFiles
  /** For Ruff itself; nothing in them depends on a file's path. */
  options: Record<string, unknown>
  /** Rules whose fixes it calls unsafe. Ruff's own safe list is not used, so `extend-safe-fixes` adds nothing. */
  unsafe: readonly string[]
  format: Table
}

/** Options that matter to what is reported; all others are about files, output or the formatter. */
const topOptions = ['preview', 'builtins', 'line-length', 'indent-width', 'target-version']

export function ruffConfig(chain: readonly RuffLayer[]): RuffConfig {
  const own = chain.at(-1)
  const path = own?.path ?? ''
  const top: Record<string, unknown> = {}
  for (const layer of chain) {
    for (const key of topOptions) if (layer.top[key] !== undefined) top[key] = layer.top[key]
  }
  const format = Object.assign({}, ...chain.map((layer) => tableAt(layer.top['format']) ?? {}))
  return {
    source: nameOf(path) === 'pyproject.toml' ? `${path} [tool.ruff]` : path,
    folder: own?.folder ?? '',
    chain,
    files: ruffFiles(chain),
    options: { ...top, lint: combinedLint(chain) },
    unsafe: chain.flatMap(({ lint }) => stringsOf(lint['extend-unsafe-fixes'])),
    format,
  }
}

/** The version of Ruff that the configuration asks for, if it asks for one. */
export function requiredRuff(chain: readonly RuffLayer[]): string | undefined {
  return stringOf(lastWith(chain, ({ top }) => top['required-version'] !== undefined)?.top['required-version'])
}
