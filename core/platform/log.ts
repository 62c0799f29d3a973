import { withoutLogins, withoutSecrets } from './hide-secrets.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Record<string, unknown>

/** Structured logs for operators, one JSON line each. What happened to a run is an event, not a log. */
export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogOptions = {
  service: string
  level: LogLevel
  /** Values that must never appear; each is replaced by `[secret]`. Logins of addresses never appear either. */
  secrets?: readonly string[]
  write?: (line: string) => void
}

/** A log that writes to stderr by default, so that stdout only has the program's result. */
export function openLog(options: LogOptions): Log {
  const least = logLevels.indexOf(options.level)
  const secrets = options.secrets ?? []
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(level) < least) return
    const entry = { time: new Date().toISOString(), level, service: options.service, message, ...fields }
    write(`${withoutSecrets(JSON.stringify(entry, plainValue), secrets)}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return withoutLogins(value)
  if (!(value instanceof Error)) return value
  const code = 'code' in value ? { code: value.code } : {}
  return { name: value.name, message: value.message, ...code, stack: value.stack, cause: value.cause }
}
