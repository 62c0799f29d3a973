/** The value of a series in Prometheus' text format, named as it stands there with its labels; undefined where it is absent. */
export function metricValue(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

/** That of a service, by the address where it says how it is. */
export async function readMetric(health: string | undefined, series: string): Promise<number | undefined> {
  return metricValue(await (await fetch(`${health}/metrics`)).text(), series)
}
