import { z } from 'zod'
import { eventNames, eventTable } from '#domain/events/event-table.ts'
import { EventView } from './event-schema.ts'

const Plain = z.instanceof(z.ZodType)

/** Each event with its own data, by the name of its component such as `RunAcceptedEvent`: `EventView` in the API's document. */
export const eventShapes = eventNames.map((name) => {
  const { category, about, data } = eventTable[name]
  const component = `${pascalCase(name)}Event`
  const own = { event: z.literal(name), category: z.literal(category), data: named(`${component}Data`, data) }
  return { name, component, shape: EventView.extend(own).describe(about) }
})

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Gives a schema a name, and its parts names made of that: generators of clients would have to make them up. */
function named(name: string, schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return named(name, schema.unwrap()).optional()
  if (schema instanceof z.ZodReadonly) return named(name, schema.unwrap())
  if (schema instanceof z.ZodArray) return z.array(named(name, schema.element))
  const id = { id: name }
  if (schema instanceof z.ZodRecord) return z.record(z.string(), named(`${name}Value`, schema.valueType)).meta(id)
  if (schema instanceof z.ZodUnion)
    return z.union(schema.options.map((option, at) => named(`${name}${at + 1}`, option))).meta(id)
  if (schema instanceof z.ZodEnum && schema.options.length > 1) return z.enum(schema.options.map(String)).meta(id)
  if (!(schema instanceof z.ZodObject)) return z.clone(Plain.parse(schema))
  const fields: [string, z.core.$ZodType][] = Object.entries(schema.shape)
  const parts = fields.map(([field, part]) => [field, named(`${name}${pascalCase(field)}`, part)] as const)
  return z.strictObject(Object.fromEntries(parts)).meta(id)
}
