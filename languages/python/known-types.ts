export type JsonSchema = { anyOf?: JsonSchema[]; [keyword: string]: unknown }

export const knownModules = new Set(
  `builtins collections collections.abc datetime decimal enum fractions ipaddress numbers os os.path pathlib re types typing
  typing_extensions uuid`.split(/\s+/),
)

const datePattern = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const timePattern = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?`
const text = { type: 'string' }

/** Types whose values a fixture writes as one text, number or truth value. Dates and times are as Python's `fromisoformat` reads them. */
const scalars: ReadonlyMap<string, JsonSchema> = new Map<string, JsonSchema>([
  ['str', text],
  ['Text', text],
  ['AnyStr', text],
  ['LiteralString', text],
  ['int', { type: 'integer' }],
  ['SupportsIndex', { type: 'integer' }],
  ['Integral', { type: 'integer' }],
  ...['float', 'Real', 'Rational', 'Number', 'SupportsInt', 'SupportsFloat'].map(
    (name) => [name, { type: 'number' }] as const,
  ),
  ['bool', { type: 'boolean' }],
  ['None', { type: 'null' }],
  ['NoneType', { type: 'null' }],
  ...['bytes', 'bytearray', 'ByteString', 'Buffer'].map(
    (name) =>
      [
        name,
        {
          ...text,
          pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
          description: 'bytes as base64',
        },
      ] as const,
  ),
  ['date', { ...text, pattern: `^${datePattern}$`, description: 'an ISO 8601 date' }],
  ['datetime', { ...text, pattern: `^${datePattern}[T ]${timePattern}$`, description: 'an ISO 8601 date and time' }],
  ['time', { ...text, pattern: `^${timePattern}$`, description: 'an ISO 8601 time' }],
  ['timedelta', { type: 'number', description: 'seconds' }],
  ['Decimal', { ...text, pattern: String.raw`^-?(?:\d+(?:\.\d*)?|\.\d+)$`, description: 'a decimal number as text' }],
  ['Fraction', { ...text, pattern: String.raw`^-?\d+(?:/[1-9]\d*)?$`, description: 'a fraction as text' }],
  ['UUID', { ...text, format: 'uuid' }],
  ...['Path', 'PurePath', 'PosixPath', 'PurePosixPath', 'PathLike'].map(
    (name) => [name, { ...text, description: 'a path' }] as const,
  ),
  ['IPv4Address', { ...text, format: 'ipv4' }],
  ['IPv6Address', { ...text, format: 'ipv6' }],
  ['Pattern', { ...text, description: 'a regular expression' }],
])

export function scalarSchema(name: string): JsonSchema | undefined {
  return scalars.get(name)
}

const named = (names: string) => new Set(names.split(/\s+/))

/** Sorts types with arguments, and bare containers, by what they are in JSON. */
const forms = {
  list: named('list List MutableSequence deque Deque'),
  /** A text is one of these as well. */
  iterable: named('Sequence Iterable Collection Container Reversible'),
  set: named('set Set frozenset FrozenSet AbstractSet MutableSet KeysView'),
  tuple: named('tuple Tuple'),
  dict: named('dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict'),
  counter: named('Counter'),
  union: named('Union'),
  optional: named('Optional'),
  literal: named('Literal'),
  /** Its first argument is the type itself. */
  wrapper: named('Annotated Final Required NotRequired ReadOnly InitVar'),
  any: named('Any object Incomplete'),
} as const
export type TypeForm = keyof typeof forms

export function formOf(name: string): TypeForm | undefined {
  for (const [form, names] of Object.entries(forms)) if (names.has(name)) return isForm(form) ? form : undefined
  return undefined
}

function isForm(name: string): name is TypeForm {
  return Object.hasOwn(forms, name)
}

export const enumBases = named('Enum IntEnum StrEnum Flag IntFlag ReprEnum')
export const recordBases = named('TypedDict NamedTuple BaseModel BaseSettings SQLModel Struct')
export const recordDecorators = named('dataclass define frozen mutable s attrs')

/** Describes `Sequence`, `Iterable` and the like. A str is one of these at run time: samples use lists, and a str does not count as a wrong value. */
export const iterableNote = 'items; a text has this type, too'

export function allowsNull({ type, anyOf }: JsonSchema): boolean {
  return type === 'null' || (anyOf ?? []).some(allowsNull)
}
