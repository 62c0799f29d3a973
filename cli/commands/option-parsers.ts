import { InvalidArgumentError, Option } from 'commander'
import { defaultWorkers } from '../stack/default-workers.ts'
import { faultOfServerUrl } from '#platform/model-server-url.ts'
import { isModelServers } from '../model-server.ts'
import { type SkipKind, skipKinds, skipKindText } from '#domain/skip-kind.ts'

/** `a,b` as a list without empty entries; given twice, both count. */
export function commaList(text: string, before: string[] = []): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return [...before, ...names]
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

export function positiveUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = positiveInteger(text)
    if (value > most) throw new InvalidArgumentError(`It must be at most ${most}.`)
    return value
  }
}

/** Decimal, both ends included. */
export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`It must be a number, ${least} to ${most}.`)
    return value
  }
}

export function priorityNumber(text: string): number {
  if (!/^\d$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 to 9.')
  return Number(text)
}

/** The default is of this machine, so the help and the reference tell its rule. */
export function workersOption(meaning: string): Option {
  return new Option('--workers <count>', meaning)
    .argParser(positiveUpTo(64))
    .default(defaultWorkers(), 'one per two cores')
}

/** What becomes of the others when an operation does not end well. */
export function errorPolicyOption(): Option {
  const meaning = 'when an operation fails: go on, skip what waits for it (the default), or stop the run'
  return new Option('--error-policy <policy>', meaning).choices(['continue', 'skip_downstream', 'stop_run'])
}

export type IncludeOptions = {
  includeVendored?: true
  includeGenerated?: true
  includeSubmodules?: true
  includeMigrations?: true
  includeSnapshots?: true
  includeIgnored?: true
}

/** A flag for each kind of file that is skipped by default. */
export function includeOptions(): Option[] {
  return skipKinds.map(
    (kind) => new Option(`--include-${kind}`, `also ${skipKindText[kind]}, which are skipped by default`),
  )
}

/** The kinds that flags name, with those of the settings. */
export function includedKinds(options: IncludeOptions, set: readonly SkipKind[] = []): SkipKind[] {
  const asked: Record<SkipKind, true | undefined> = {
    vendored: options.includeVendored,
    generated: options.includeGenerated,
    submodules: options.includeSubmodules,
    migrations: options.includeMigrations,
    snapshots: options.includeSnapshots,
    ignored: options.includeIgnored,
  }
  return skipKinds.filter((kind) => asked[kind] === true || set.includes(kind))
}

export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a port, 0 to 65535.')
  return Number(text)
}

/** `rehearsal`, or an http(s) URL. */
export function modelChoice(text: string): string {
  if (text === 'rehearsal' || faultOfServerUrl(text) === undefined) return text
  throw new InvalidArgumentError(
    'It must be "rehearsal" or the http(s) URL of a model server, such as http://host:8000/v1.',
  )
}

/** `rehearsal`, or http(s) URLs separated by commas. */
export function modelServers(text: string): string {
  if (isModelServers(text)) return text
  throw new InvalidArgumentError(
    'It must be "rehearsal" or http(s) URLs of model servers, such as http://host:8000/v1, separated by commas.',
  )
}
