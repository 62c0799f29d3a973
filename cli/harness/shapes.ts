import { submitToolName } from '#bundles/tool-definition.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import type { Random } from '#platform/seeded-random.ts'

/** Names what the first reply should call. Arguments that are not named here may be anything. */
export type ExpectedCall = { tool: string; arguments: Readonly<Record<string, unknown>> }

export type DrawnRequest = { prompt: string; expected: ExpectedCall }

/** One wording of what a shape asks for. The same `random` gives the same request, whatever the wording. */
type Variant = { name: string; draw(random: Random): DrawnRequest }

export type Shape = {
  name: string
  tools: readonly ToolDefinition[]
  variants: readonly Variant[]
}

type ShapeForm<Values> = {
  name: string
  tools: readonly ToolDefinition[]
  draw(random: Random): Values
  expect(values: Values): ExpectedCall
  prompts: Readonly<Record<string, (values: Values) => string>>
}

function defineShape<Values>({ name, tools, draw, expect, prompts }: ShapeForm<Values>): Shape {
  const variants = Object.entries(prompts).map(([variant, write]) => ({
    name: variant,
    draw(random: Random) {
      const values = draw(random)
      return { prompt: write(values), expected: expect(values) }
    },
  }))
  return { name, tools, variants }
}

function toolOf(name: string, description: string, properties: Readonly<Record<string, object>>) {
  const required = Object.keys(properties)
  return { name, description, parameters: { type: 'object', properties, required, additionalProperties: false } }
}

const folders = ['src', 'lib', 'tools', 'app/core', 'packages/shop'] as const
const stems = [
  'invoice',
  'customer',
  'stock_level',
  'price_table',
  'session',
  'router',
  'mail_queue',
  'report',
] as const
const endings = ['py', 'ts', 'go', 'rs', 'md'] as const
const labelWords = ['bug', 'docs', 'urgent', 'backend', 'help wanted', 'refactor', 'good first issue', 'security']
const hosts = ['alpha', 'bravo', 'delta', 'kilo', 'sierra', 'tango'] as const

function samplePath(random: Random): string {
  return `${random.pick(folders)}/${random.pick(stems)}_${random.int(1, 99)}.${random.pick(endings)}`
}

function sampleSymbol(random: Random): string {
  return `${random.pick(stems)}_${random.pick(['total', 'count', 'loader', 'by_id'])}_${random.int(1, 99)}`
}

function sampleLabels(random: Random): string[] {
  const left = [...labelWords]
  return Array.from({ length: random.int(2, 4) }, () => left.splice(random.int(0, left.length - 1), 1)).flat()
}

const stringShape = defineShape({
  name: 'string',
  tools: [
    toolOf('open_file', 'Open a file of the repository.', {
      path: { type: 'string', description: 'Path of the file, as it was given.' },
    }),
  ],
  draw: samplePath,
  expect: (path) => ({ tool: 'open_file', arguments: { path } }),
  prompts: {
    plain: (path) => `Open the file "${path}".`,
    question: (path) => `Could you open "${path}" for me, please?`,
    terse: (path) => `open_file\npath: ${path}`,
    noisy: (path) =>
      `morning! sorry for the late reply, standup ran long again… anyway: open the file "${path}" pls, and thx :)`,
  },
})

const integerShape = defineShape({
  name: 'integer',
  tools: [
    toolOf('set_timeout', 'Set how long a request may take.', {
      seconds: { type: 'integer', minimum: 1, description: 'The timeout in seconds.' },
    }),
  ],
  draw: (random) => random.int(2, 900),
  expect: (seconds) => ({ tool: 'set_timeout', arguments: { seconds } }),
  prompts: {
    plain: (seconds) => `Set the timeout to ${seconds} seconds.`,
    question: (seconds) => `Can you make the timeout ${seconds} seconds?`,
    terse: (seconds) => `set_timeout\nseconds: ${seconds}`,
  },
})

const floatShape = defineShape({
  name: 'float',
  tools: [
    toolOf('set_sample_rate', 'Set the share of requests that are traced.', {
      rate: { type: 'number', minimum: 0, maximum: 1, description: 'The share, from 0 to 1.' },
    }),
  ],
  draw: (random) => random.int(1, 99) / 100,
  expect: (rate) => ({ tool: 'set_sample_rate', arguments: { rate } }),
  prompts: {
    plain: (rate) => `Set the sample rate to ${rate}.`,
    question: (rate) => `Could we have a sample rate of ${rate}, please?`,
    terse: (rate) => `set_sample_rate\nrate: ${rate}`,
  },
})

const word = (enabled: boolean) => (enabled ? 'on' : 'off')

const booleanShape = defineShape({
  name: 'boolean',
  tools: [
    toolOf('set_verbose', 'Turn verbose output on or off.', {
      enabled: { type: 'boolean', description: 'true: on. false: off.' },
    }),
  ],
  draw: (random) => random.chance(0.5),
  expect: (enabled) => ({ tool: 'set_verbose', arguments: { enabled } }),
  prompts: {
    plain: (enabled) => `Turn verbose output ${word(enabled)}.`,
    question: (enabled) => `Would you switch verbose output ${word(enabled)}, please?`,
    terse: (enabled) => `set_verbose\nenabled: ${enabled}`,
  },
})

const levels = ['debug', 'info', 'warning', 'error'] as const

const enumShape = defineShape({
  name: 'enum',
  tools: [
    toolOf('set_log_level', 'Set from which level on messages are logged.', {
      level: { type: 'string', enum: levels, description: 'The lowest level that is logged.' },
    }),
  ],
  draw: (random) => random.pick(levels),
  expect: (level) => ({ tool: 'set_log_level', arguments: { level } }),
  prompts: {
    plain: (level) => `Set the log level to ${level}.`,
    question: (level) => `Could you log from ${level} on?`,
    noisy: (level) => `The console is unreadable today, as everybody keeps saying. Log level ${level.toUpperCase()}!!`,
  },
})

const listShape = defineShape({
  name: 'list',
  tools: [
    toolOf('add_labels', 'Add labels to the open issue.', {
      labels: { type: 'array', items: { type: 'string' }, description: 'The labels, in the order they were named.' },
    }),
  ],
  draw: sampleLabels,
  expect: (labels) => ({ tool: 'add_labels', arguments: { labels } }),
  prompts: {
    plain: (labels) => `Add these labels to the issue: ${inWords(labels)}.`,
    question: (labels) => `Can this issue have the labels ${inWords(labels)}?`,
    terse: (labels) => `add_labels\nlabels: ${labels.join(', ')}`,
  },
})

function inWords(labels: readonly string[]): string {
  const quoted = labels.map((label) => `"${label}"`)
  return `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`
}

const objectShape = defineShape({
  name: 'object',
  tools: [
    toolOf('register_server', 'Register a server.', {
      server: {
        type: 'object',
        properties: {
          name: { type: 'string', description: "The server's name." },
          address: {
            type: 'object',
            properties: { host: { type: 'string' }, port: { type: 'integer', minimum: 1, maximum: 65_535 } },
            required: ['host', 'port'],
            additionalProperties: false,
          },
        },
        required: ['name', 'address'],
        additionalProperties: false,
      },
    }),
  ],
  draw(random) {
    const name = `${random.pick(hosts)}-${random.int(1, 40)}`
    return { name, address: { host: `${name}.example.org`, port: random.int(1024, 65_535) } }
  },
  expect: (server) => ({ tool: 'register_server', arguments: { server } }),
  prompts: {
    plain: ({ name, address }) => `Register the server "${name}" at host "${address.host}" and port ${address.port}.`,
    question: ({ name, address }) =>
      `Could you register a server called "${name}"? It listens on host "${address.host}", port ${address.port}.`,
    terse: ({ name, address }) => `register_server\nname: ${name}\nhost: ${address.host}\nport: ${address.port}`,
  },
})

/** Either tool, by chance: the right one is part of what is measured. */
const twoToolsShape = defineShape({
  name: 'two_tools',
  tools: [
    toolOf('count_lines', 'Count the lines of one file.', {
      path: { type: 'string', description: 'Path of the file.' },
    }),
    toolOf('find_symbol', 'Find where a symbol is defined.', { symbol: { type: 'string', description: 'Its name.' } }),
  ],
  draw: (random) => ({ counts: random.chance(0.5), path: samplePath(random), symbol: sampleSymbol(random) }),
  expect: ({ counts, path, symbol }) =>
    counts ? { tool: 'count_lines', arguments: { path } } : { tool: 'find_symbol', arguments: { symbol } },
  prompts: {
    plain: ({ counts, path, symbol }) =>
      counts ? `Count the lines of "${path}".` : `Find the definition of the symbol "${symbol}".`,
    question: ({ counts, path, symbol }) =>
      counts ? `How many lines does "${path}" have?` : `Where can I find the symbol "${symbol}"?`,
    noisy: ({ counts, path, symbol }) =>
      counts
        ? `Before lunch I would like to see the lines counted in "${path}", if that is not too much trouble.`
        : `Somebody renamed things again, so before lunch: find me the symbol "${symbol}", wherever it lives now.`,
  },
})

const animals = ['a duck', 'two cats', 'an old horse', 'a hedgehog', 'seven bees'] as const
const dishes = ['pancakes', 'lentil soup', 'rice pudding', 'dumplings', 'apple pie'] as const

/** No tool fits: the right answer is to submit with status skipped. */
const irrelevantShape = defineShape({
  name: 'irrelevant',
  tools: [
    toolOf('restart_server', 'Restart one of our servers.', {
      name: { type: 'string', description: "The server's name." },
    }),
  ],
  draw: (random) => ({ animal: random.pick(animals), dish: random.pick(dishes) }),
  expect: () => ({ tool: submitToolName, arguments: { status: 'skipped' } }),
  prompts: {
    plain: ({ animal }) => `Write a poem of four lines about ${animal}.`,
    question: ({ dish }) => `How long do ${dish} have to cook?`,
    noisy: ({ animal, dish }) => `lol my brother says he once saw ${animal} eat ${dish}. can that be true??`,
  },
})

export const allShapes: readonly Shape[] = [
  stringShape,
  integerShape,
  floatShape,
  booleanShape,
  enumShape,
  listShape,
  objectShape,
  twoToolsShape,
  irrelevantShape,
]
