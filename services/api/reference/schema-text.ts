import { z } from 'zod'

/** As much of an OpenAPI 3.1 schema as a reader is shown. */
export type SchemaView = {
  $ref?: string | undefined
  type?: string | string[] | undefined
  format?: string | undefined
  enum?: unknown[] | undefined
  const?: unknown
  description?: string | undefined
  default?: unknown
  minimum?: number | undefined
  maximum?: number | undefined
  minLength?: number | undefined
  maxLength?: number | undefined
  minItems?: number | undefined
  maxItems?: number | undefined
  pattern?: string | undefined
  items?: SchemaView | undefined
  properties?: Record<string, SchemaView> | undefined
  required?: string[] | undefined
  additionalProperties?: SchemaView | boolean | undefined
  anyOf?: SchemaView[] | undefined
  oneOf?: SchemaView[] | undefined
  allOf?: SchemaView[] | undefined
}

/** The schemas of the document are trees by construction: references are not followed. */
export const SchemaView: z.ZodType<SchemaView> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    description: z.string().optional(),
    default: z.unknown().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    pattern: z.string().optional(),
    items: SchemaView.optional(),
    properties: z.record(z.string(), SchemaView).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([SchemaView, z.boolean()]).optional(),
    anyOf: z.array(SchemaView).optional(),
    oneOf: z.array(SchemaView).optional(),
    allOf: z.array(SchemaView).optional(),
  }),
)

/** A schema in a few words: `string`, `Run`, `list of Node`, `"none" or "auto"`, `integer, 1 to 100`. */
export function schemaText(schema: SchemaView): string {
  return [shapeText(schema), ...boundTexts(schema)].join(', ')
}

function shapeText(schema: SchemaView): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices !== undefined) return choices.map(schemaText).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  const types = [schema.type ?? 'any'].flat()
  return types.map((type) => ofType(type, schema)).join(' or ')
}

function ofType(type: string, { format, items, additionalProperties, properties }: SchemaView): string {
  if (format === 'binary') return 'bytes'
  if (type === 'array') return items === undefined ? 'list' : `list of ${schemaText(items)}`
  if (type !== 'object') return type
  if (properties !== undefined) return `{${Object.keys(properties).join(', ')}}`
  return typeof additionalProperties === 'object' ? `object of ${schemaText(additionalProperties)}` : 'object'
}

function boundTexts(schema: SchemaView): string[] {
  const { default: usual, pattern } = schema
  return [
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
    ...(pattern === undefined ? [] : [`as ${pattern}`]),
    ...(usual === undefined ? [] : [`${JSON.stringify(usual)} without it`]),
  ]
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return []
  if (most === undefined) return [`at least ${least}${unit}`]
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`]
}
