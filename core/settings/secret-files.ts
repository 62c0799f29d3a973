import { readFileSync } from 'node:fs'
import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from '#platform/env.ts'

/** The variables whose value may be in a file instead, which `NAME_FILE` names: as container platforms hand out secrets. */
export const secretVariables = [
  'REMORA_TOKEN',
  'REMORA_REDIS_URL',
  'REMORA_MODEL_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
] as const

/** No secret is longer; a wrong path may name a large file. */
const maxBytes = 64 * 1024

/**
 * `env` with the secrets that are in files, without the line end that editors leave there. CONFIG_003 names every file that cannot
 * be read or is empty, and every secret that is given in both ways. A message never has a value.
 */
export function withSecretFiles(env: Env): Env {
  const faults: string[] = []
  const found: Record<string, string> = {}
  for (const name of secretVariables) {
    const path = givenValue(env, `${name}_FILE`)
    if (path === undefined) continue
    const secret = givenValue(env, name) === undefined ? readSecret(path) : { fault: `${name} is set as well` }
    if ('fault' in secret) faults.push(`${name}_FILE: ${secret.fault}`)
    else found[name] = secret.value
  }
  if (faults.length > 0) throw new AppError('CONFIG_003', faults.join('; '))
  return Object.keys(found).length === 0 ? env : { ...env, ...found }
}

function readSecret(path: string): { value: string } | { fault: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
    if (value.length > maxBytes) return { fault: `${path} is too long for a secret` }
    return value.trim() === '' ? { fault: `${path} is empty` } : { value }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    return { fault: `${path} cannot be read (${code})` }
  }
}
