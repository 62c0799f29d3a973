import { z } from 'zod'
import { EventOrigin, EventPhase } from '#domain/event.ts'
import { causesOf, eventCategories, type EventName, eventNames, eventTable } from '#domain/events/event-table.ts'

/** The text of docs/reference/events.md, made from the table that every event comes from. */
export function eventsReference(): string {
  return [
    '# Events',
    '',
    'A run is the list of its events: numbered without a gap from 1 (`seq`), in the past tense, never changed.',
    '`GET /v1/runs/{id}/events` serves them as a list and as a stream. Each has the fields `v`, `seq`, `ts`, `project_id`,',
    '`run_id`, `event`, `category`, `phase`, `status` (`ok` or `error`), `origin` and `correlation_id`, where they apply',
    '`operation_id`, `generation`, `node_id`, `agent`, `tool_name`, `duration_ms`, `error_code` and `causation_seq` (the number',
    'of the event that it follows from), and `data`, which is declared here. `node scripts/write-reference.ts` makes this page',
    'from `domain/events/`.',
    '',
    `\`phase\` is one of ${choices(EventPhase)}; \`origin.kind\` one of ${choices(EventOrigin.shape.kind)}.`,
    '',
    ...eventCategories.flatMap((category) => [`## ${category}`, '', ...tableOf(category), '']),
  ].join('\n')
}

function choices({ options }: { options: readonly string[] }): string {
  return options.map((option) => `\`${option}\``).join(', ')
}

function tableOf(category: string): string[] {
  const rows = eventNames.flatMap((name) => {
    const { category: own, about, data } = eventTable[name]
    return own === category ? [`| \`${name}\` | ${about}${causesText(name)} | ${fieldsOf(data)} |`] : []
  })
  return ['| event | | data |', '| --- | --- | --- |', ...rows]
}

function causesText(name: EventName): string {
  const causes = causesOf[name] ?? []
  return causes.length === 0 ? '' : ` Follows from ${causes.map((cause) => `\`${cause}\``).join(', ')}.`
}

/** Lists the fields with what they hold; `?` marks those that may be absent. */
function fieldsOf(schema: z.ZodObject): string {
  return Object.entries(schema.shape)
    .map(([name, field]) => `\`${name}${field instanceof z.ZodOptional ? '?' : ''}\` ${typeOf(field)}`)
    .join(', ')
}

function typeOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly) return typeOf(schema.unwrap())
  if (schema instanceof z.ZodNullable) return `${typeOf(schema.unwrap())} or null`
  if (schema instanceof z.ZodArray) return `list of ${typeOf(schema.element)}`
  if (schema instanceof z.ZodRecord) return `map of ${typeOf(schema.valueType)}`
  if (schema instanceof z.ZodObject) return `{${fieldsOf(schema)}}`
  if (schema instanceof z.ZodUnion) return schema.options.map(typeOf).join(' or ')
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return valuesOf(schema)
  if (schema instanceof z.ZodString) return 'text'
  if (schema instanceof z.ZodNumber) return 'number'
  return schema instanceof z.ZodBoolean ? 'yes or no' : 'any'
}

function valuesOf(schema: z.ZodEnum | z.ZodLiteral): string {
  const values = schema instanceof z.ZodEnum ? schema.options : [...schema.values]
  return values.map((value) => `\`${String(value)}\``).join(', ')
}
