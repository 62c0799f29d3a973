import { describe, expect, it } from 'vitest'
import { lastWords } from './worker-pool.ts'

const trace = `file:///remora/core/platform/env.ts:84
  throw new AppError('CONFIG_003', 'bad')
        ^

AppError: bad environment: REMORA_MODEL_URLS.0: Invalid URL
    at readEnv (file:///remora/core/platform/env.ts:84:9)
    at file:///remora/services/worker/main.ts:6:41 {
  code: 'CONFIG_003',
  phase: undefined
}

Node.js v24.21.0
`
const log = (level: string, message: string) =>
  `${JSON.stringify({ time: 'now', level, service: 'worker', message })}\n`

const pretty = (level: string, message: string) => `07:31:02.123  ${level.padEnd(5)}  worker-1  ${message}\n`

describe('the last words of a process', () => {
  it.each([
    ['what was thrown', log('error', 'slow') + trace, 'AppError: bad environment: REMORA_MODEL_URLS.0: Invalid URL'],
    ['its last logged error', log('error', 'first') + log('error', 'no bucket') + log('info', 'bye'), 'no bucket'],
    ['its first line that is no log', `${log('info', 'ready')}out of memory\n`, 'out of memory'],
    ['a log line that was cut', '{"time":"now","level":"err', ''],
    ['nothing where it only worked', log('info', 'ready') + log('warn', 'slow'), ''],
    ['an error for people', `${pretty('error', 'no bucket')}${pretty('info', 'bye')}`, 'worker-1  no bucket'],
  ])('are %s', (_what, stderr, words) => {
    expect(lastWords(stderr)).toBe(words)
  })
})
