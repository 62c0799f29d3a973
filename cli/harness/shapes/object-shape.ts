import { sampleHost } from './sample-values.ts'
import { defineShape, toolOf } from './shape.ts'

export const objectShape = defineShape({
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
    const name = sampleHost(random)
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
