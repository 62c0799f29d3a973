// Whether the one service of this container lives: exit code 0, or 1. By default each service has a health port of its own.
const env = process.env
const ports = [
  env['REMORA_API_HEALTH_PORT'] ?? '8424',
  env['REMORA_DISCOVERY_HEALTH_PORT'] ?? '8422',
  env['REMORA_WORKER_HEALTH_PORT'] ?? '8423',
  env['REMORA_REHEARSAL_PORT'] ?? '8421',
]
/** @param {string} port */
const lives = async (port) => {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) })
  if (!answer.ok) throw new Error(`${port} answers ${answer.status}`)
}
await Promise.any(ports.map(lives)).catch((fault) => {
  const faults = fault instanceof AggregateError ? fault.errors : [fault]
  process.stderr.write(`${faults.map((one) => String(one?.cause ?? one)).join('\n')}\n`)
  process.exit(1)
})
