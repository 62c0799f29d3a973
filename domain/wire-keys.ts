type Snake<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name
export type SnakeKeys<Fields> = { [Name in keyof Fields as Snake<Name>]: Fields[Name] }

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name
export type CamelKeys<Fields> = { [Name in keyof Fields as Camel<Name>]: Fields[Name] }

/** Names the fields as other programs read them. Fields inside of these keep their names, and those that are undefined are left out. */
export function snakeKeys<Fields extends object>(fields: Fields): SnakeKeys<Fields>
export function snakeKeys(fields: object): object {
  return renamed(fields, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

/** Turns what `snakeKeys` has made back. */
export function camelKeys<Fields extends object>(fields: Fields): CamelKeys<Fields>
export function camelKeys(fields: object): object {
  return renamed(fields, camelName)
}

export function camelName(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

function renamed(fields: object, rename: (name: string) => string): object {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [rename(name), value]))
}
