import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from '#platform/env.ts'

/** `NAME_FILE` names a file with the value, as container platforms hand out secrets. */
export const secretVariables = [
  'REMORA_TOKEN',
  'REMORA_SIGNING_KEY',
  'REMORA_REDIS_URL',
  'REMORA_MODEL_API_KEY',
  'REMORA_GITHUB_PRIVATE_KEY',
  'REMORA_GITHUB_WEBHOOK_SECRET',
  'REMORA_PUBLISHER_SECRET',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const

export function fileVariable(name: (typeof secretVariables)[number]): string {
  return `${name}_FILE`
}

const maxBytes = 64 * 1024

/** Many model servers ask for no key, and there need be no GitHub App: a deployment may name their files in any case, which are empty then. */
const optional: ReadonlySet<string> = new Set([
  'REMORA_MODEL_API_KEY',
  'REMORA_GITHUB_PRIVATE_KEY',
  'REMORA_GITHUB_WEBHOOK_SECRET',
])

/** CONFIG_003 names every file that cannot be read or is empty, and every secret given twice, never a value. */
export function withSecretFiles(env: Env): Env {
  const faults: string[] = []
  const secrets: Record<string, string> = {}
  for (const name of secretVariables) {
    const path = givenValue(env, fileVariable(name))
    if (path === undefined) continue
    const secret = givenValue(env, name) === undefined ? readSecret(path) : { fault: `${name} is set as well` }
    if ('fault' in secret) faults.push(`${fileVariable(name)}: ${secret.fault}`)
    else if (secret.value.trim() !== '') secrets[name] = secret.value
    else if (!optional.has(name)) faults.push(`${fileVariable(name)}: ${path} is empty`)
  }
  if (faults.length > 0) throw new AppError('CONFIG_003', faults.join('; '))
  return Object.keys(secrets).length === 0 ? env : { ...env, ...secrets }
}

function readSecret(path: string): { value: string } | { fault: string } {
  try {
    // Links are followed: Kubernetes mounts secrets as such. A pipe would be waited for, and a device has no end.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return { fault: `${path} is not a file` }
      const bytes = Buffer.alloc(maxBytes + 1)
      const length = readSync(file, bytes)
      if (length > maxBytes) return { fault: `${path} is too long for a secret` }
      return { value: bytes.toString('utf8', 0, length).replace(/[\r\n]+$/, '') }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    return { fault: `${path} cannot be read (${code})` }
  }
}
