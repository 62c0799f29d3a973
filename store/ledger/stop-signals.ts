import { stopsChannel } from './keys.ts'
import { openRunSignals, type RunSignals, type SignalOptions } from './notices.ts'

export type StopSignals = RunSignals

/** Tells of runs that were stopped. A lost signal is made up for at the next heartbeat. */
export function openStopSignals(options: SignalOptions): StopSignals {
  return openRunSignals(options, stopsChannel(options.namespace ?? 'remora'))
}
