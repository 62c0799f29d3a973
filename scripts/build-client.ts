import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { apiDocument } from '../services/api/routes/reference/api-document.ts'

/**
 * `node scripts/build-client.ts FOLDER`: writes what the package exports as `remora/client`, `client.js` and its types `client.d.ts`.
 *
 * The types of what crosses HTTP are made of the OpenAPI document, since those of the sources need zod. openapi-typescript needs the
 * compiler API of TypeScript 5 or 6, which the project's TypeScript 7 does not have (its issue 2841); @ts-morph/common contains that of 6.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
})
const { default: openapiTS, astToString } = await import('openapi-typescript')
const root = fileURLToPath(new URL('../', import.meta.url))

/** Returns the text of each file of types, by its name. */
async function typesOfClient(): Promise<Record<string, string>> {
  const { components } = apiDocument()
  const types = await openapiTS(JSON.stringify({ openapi: '3.1.0', info: { title: '', version: '' }, components }))
  const files: Record<string, string> = { 'client/schemas.d.ts': astToString(types) }
  for (const path of globSync('client/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })) {
    const text = readFileSync(join(root, path), 'utf8')
    const name = basename(path, '.ts')
    files[`client/${name}.d.ts`] = name === 'wire' ? wireTypes(text, components) : declarationsOf(path, text)
  }
  const own = ['read-stream', 'multipart', 'wire'].map((name) => `export type * from './client/${name}.js'\n`)
  return { ...files, 'client.d.ts': `export * from './client/remora-client.js'\n${own.join('')}` }
}

function declarationsOf(path: string, text: string): string {
  const { code, errors } = isolatedDeclarationSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path}: ${error.message}`)
  return code.replaceAll(/(from ["']\.\/[\w-]+)\.ts(["'])/g, '$1.js$2')
}

/** The names that `client/wire.ts` gives to types are those that the document gives to its schemas. */
function wireTypes(text: string, components: ReturnType<typeof apiDocument>['components']): string {
  const names = [...text.matchAll(/^export type (\w+) =/gm)].map(([, name = '']) => name)
  const unknown = names.find((name) => components?.schemas?.[name] === undefined)
  if (unknown !== undefined) throw new Error(`client/wire.ts: the OpenAPI document has no schema ${unknown}`)
  const types = names.map((name) => `export type ${name} = components['schemas']['${name}']\n`)
  return `import type { components } from './schemas.js'\n${types.join('')}`
}

async function buildClient(folder: string): Promise<void> {
  const bundle = await rolldown({ cwd: root, platform: 'neutral', input: 'client/remora-client.ts' })
  await bundle.write({ file: join(folder, 'client.js') })
  await bundle.close()
  mkdirSync(join(folder, 'client'), { recursive: true })
  for (const [name, text] of Object.entries(await typesOfClient())) writeFileSync(join(folder, name), text)
}

await buildClient(process.argv[2] ?? join(root, 'dist'))
