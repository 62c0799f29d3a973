import { expect, it } from 'vitest'
import { WatchThresholds } from '#domain/events/watcher-events.ts'
import { RepositorySettings } from '#settings/github-settings.ts'
import { storageEnv } from '#settings/storage-settings.ts'
import { fileSettings, knownVariables, settingsTable } from '#settings/settings-table.ts'
import type { SettingsTable } from '#settings/setting.ts'
import { isTestFile, productFiles, readRepositoryFile } from './source-files.ts'

const notRead = /^settings\/\w+-settings\.ts$/

it('every variable that some part reads is in the table of settings, and every one in the table is read', () => {
  const sources = productFiles()
    .filter((file) => !isTestFile(file) && (file === 'settings/load-settings.ts' || !notRead.test(file)))
    .map(readRepositoryFile)
  const read = new Set(sources.flatMap((text) => text.match(/\bREMORA_[A-Z0-9_]*[A-Z0-9]\b(?!_)/g) ?? []))
  // The table of storage reads its own.
  for (const name of Object.keys(storageEnv)) if (name.startsWith('REMORA_')) read.add(name)
  // The publisher reads these by their rows.
  for (const field of Object.keys(RepositorySettings.shape))
    read.add(`REMORA_GITHUB_${field.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`)
  for (const name of Object.keys(WatchThresholds.shape)) read.add(`REMORA_WATCHER_${name.toUpperCase()}`)
  expect(knownVariables()).toEqual([...read].toSorted())
})

it('every default is a value that its setting takes', () => {
  const table: SettingsTable = settingsTable
  const values = Object.entries(table).flatMap(([name, { type, default: value, defaults = {} }]) =>
    [value, ...Object.values(defaults)].map((one) => ({ name, type, value: one })),
  )
  const inFile = fileSettings.map(({ path, type, default: value }) => ({ name: path.join('.'), type, value }))
  const bad = [...values, ...inFile].filter(
    ({ type, value }) => value !== undefined && value !== null && !type.safeParse(value).success,
  )
  expect(bad.map(({ name }) => name)).toEqual([])
})
