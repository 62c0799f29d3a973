const echoMs = 500

/**
 * Aborted on the first SIGINT, SIGTERM or SIGHUP, when the reader of stdout goes away, and when a program that started
 * this one with a channel dies. Another signal exits at once; but within half a second it is the same one again, since
 * npx and a terminal both hand a Ctrl-C on.
 */
export function onInterrupt(): AbortSignal {
  const abort = new AbortController()
  let firstAt: number | undefined
  const interrupt = () => {
    if (firstAt !== undefined && performance.now() - firstAt > echoMs) process.exit(130)
    firstAt ??= performance.now()
    abort.abort(new Error('interrupted'))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  process.stdout.on('error', interrupt)
  process.on('disconnect', interrupt)
  process.channel?.unref()
  return abort.signal
}
