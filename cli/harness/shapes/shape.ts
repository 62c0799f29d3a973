import type { ToolDefinition } from '#domain/turn.ts'
import type { Random } from '#platform/seeded-random.ts'

/** What the first reply should call. Arguments that are not named here may be anything. */
export type ExpectedCall = { tool: string; arguments: Readonly<Record<string, unknown>> }

export type DrawnRequest = { prompt: string; expected: ExpectedCall }

/** One wording of what a shape asks for. The same `random` gives the same request, whatever the wording. */
export type Variant = { name: string; draw(random: Random): DrawnRequest }

/** A kind of arguments, or of choice, that a model may be good or bad at. */
export type Shape = {
  name: string
  /** Offered beside submit_result. */
  tools: readonly ToolDefinition[]
  variants: readonly Variant[]
}

export type ShapeForm<Values> = {
  name: string
  tools: readonly ToolDefinition[]
  draw(random: Random): Values
  expect(values: Values): ExpectedCall
  /** By the variant's name. */
  prompts: Readonly<Record<string, (values: Values) => string>>
}

export function defineShape<Values>({ name, tools, draw, expect, prompts }: ShapeForm<Values>): Shape {
  const variants = Object.entries(prompts).map(([variant, write]) => ({
    name: variant,
    draw(random: Random) {
      const values = draw(random)
      return { prompt: write(values), expected: expect(values) }
    },
  }))
  return { name, tools, variants }
}

/** A tool all of whose arguments are required. */
export function toolOf(name: string, description: string, properties: Readonly<Record<string, object>>) {
  const required = Object.keys(properties)
  return { name, description, parameters: { type: 'object', properties, required, additionalProperties: false } }
}
