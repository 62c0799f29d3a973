import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { Owner, SettingsTable } from './setting.ts'

const services: Owner[] = ['api', 'discovery', 'worker']

// OpenTelemetry's own names, which operators set for all of their programs.
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    owners: services,
    type: z.url({ protocol: /^https?$/ }),
    about:
      'address of a collector of traces, which takes OTLP over HTTP (JSON) at `/v1/traces` below it; without it nothing is traced',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    owners: services,
    type: z.string(),
    about: 'secret: headers for the collector: `name=value`, separated by commas, the values percent-encoded',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    owners: services,
    type: z.coerce.number().min(0).max(1),
    default: 1,
    about: 'the share (0 to 1) of runs that are traced; a request with a `traceparent` says itself whether its run is',
  },
  REMORA_TRACES_OPERATIONS: {
    owners: ['worker'],
    type: z.coerce.number().min(0).max(1),
    default: 0.1,
    about:
      'the share (0 to 1) of the operations of a traced run whose spans are sent although they succeeded at their first attempt; those of all others are sent',
  },
} as const satisfies SettingsTable

type TraceValues = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined
  OTEL_TRACES_SAMPLER_ARG: number
}

/** Throws CONFIG_003 for headers that are none. */
export function traceConfig(values: TraceValues) {
  return {
    endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: headersOf(values.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    share: values.OTEL_TRACES_SAMPLER_ARG,
  }
}

export function traceSecrets(values: TraceValues): string[] {
  return Object.values(traceConfig(values).headers)
}

function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([\w-]+)\s*=(.*)$/.exec(pair) ?? []
      if (name === undefined || value === undefined) {
        throw new AppError(
          'CONFIG_003',
          'bad environment: OTEL_EXPORTER_OTLP_HEADERS: must be name=value, with commas between',
        )
      }
      return [name, decoded(value.trim())]
    }),
  )
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
