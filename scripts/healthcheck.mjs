import { readFileSync } from 'node:fs'

// Whether the service of this container lives: exit code 0, or 1. Its name is an argument, or else in what the container was started
// with: `node scripts/service.mjs worker`.
const env = process.env
const ports = new Map([
  ['api', env['REMORA_API_HEALTH_PORT'] || '8424'],
  ['discovery', env['REMORA_DISCOVERY_HEALTH_PORT'] || '8422'],
  ['worker', env['REMORA_WORKER_HEALTH_PORT'] || '8423'],
  ['conductor', env['REMORA_CONDUCTOR_HEALTH_PORT'] || '8428'],
  ['watcher', env['REMORA_WATCHER_HEALTH_PORT'] || '8429'],
  ['setup', env['REMORA_SETUP_HEALTH_PORT'] || '8425'],
  ['publisher', env['REMORA_PUBLISHER_HEALTH_PORT'] || '8426'],
  ['rehearsal', env['REMORA_REHEARSAL_PORT'] || '8421'],
])

function startedService() {
  const args = readFileSync('/proc/1/cmdline', 'utf8').split('\0')
  return args[args.findIndex((arg) => arg.endsWith('service.mjs')) + 1] ?? ''
}

try {
  const name = process.argv[2] ?? startedService()
  const port = ports.get(name)
  if (port === undefined)
    throw new Error(`no service of this container is known: name one of ${[...ports.keys()].join(', ')}`)
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) })
  if (!answer.ok) throw new Error(`${name} answers ${answer.status}`)
} catch (error) {
  // What fetch throws says why in its cause alone.
  const cause = error instanceof Error ? error.cause : undefined
  process.stderr.write(`${cause instanceof Error ? cause.message : String(error)}\n`)
  process.exit(1)
}
