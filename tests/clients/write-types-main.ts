import { registerHooks } from 'node:module'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/**
 * Reads an OpenAPI document from stdin and writes the types that openapi-typescript makes of it, as its command does.
 *
 * It needs the compiler API of TypeScript 5 or 6, which the project's TypeScript 7 does not have (openapi-typescript issue 2841).
 * @ts-morph/common contains that of 6, without a second `tsc`.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
})
const { default: openapiTS, astToString } = await import('openapi-typescript')
const document = z.record(z.string(), z.unknown()).parse(JSON.parse(await text(process.stdin)))
process.stdout.write(astToString(await openapiTS(JSON.stringify(document))))
