import { z } from 'zod'

/** A parameter as `read_docstring` reports it; `kind` follows Python's inspect module, in any spelling. */
const Parameter = z.object({
  name: z.string(),
  annotation: z.string().nullish(),
  default: z.string().nullish(),
  kind: z.string().nullish(),
})
export type Parameter = z.infer<typeof Parameter>

/** The `result` of `read_docstring`: what is known of the node without reading its body. */
export const Signature = z.object({
  name: z.string(),
  kind: z.string(),
  has_docstring: z.boolean(),
  parameters: z.array(Parameter).default([]),
  returns: z.string().nullish(),
  returns_value: z.boolean().default(false),
  yields: z.boolean().default(false),
  raises: z.array(z.string()).default([]),
  decorators: z.array(z.string()).default([]),
  bases: z.array(z.string()).default([]),
  style: z.enum(['google', 'numpy', 'sphinx', 'plain']).catch('google'),
  /** Whether sections name types. */
  types: z.boolean().default(true),
  /** How long the first line may be, and any other one. */
  summary_characters: z.int().default(70),
  line_characters: z.int().default(76),
  /** One level of indentation. */
  indent: z
    .string()
    .regex(/^(?: {1,8}|\t)$/)
    .catch('    '),
  path: z.string().optional(),
})
export type Signature = z.infer<typeof Signature>

/** The last part of a decorator's name: `functools.cached_property` and `@app.fixture(scope=…)` read alike. */
export function hasDecorator(signature: Signature, ...names: readonly string[]): boolean {
  return signature.decorators.some((decorator) => {
    const name = decorator.replace(/^@/, '').replace(/\(.*$/s, '').split('.').at(-1) ?? ''
    return names.includes(name)
  })
}

/** Whether it is called on an instance: a method that is not bound to its class or to nothing. */
export function isInstanceMethod(signature: Signature): boolean {
  const isMethod = signature.kind === 'method' || signature.parameters.some(({ name }) => name === 'self')
  return isMethod && !hasDecorator(signature, 'staticmethod', 'classmethod')
}

/** The parameters a caller gives: all but `self`, and `cls` of a class method. */
export function givenParameters(signature: Signature): Parameter[] {
  const unnamed = ['self', '/', '*', ...(hasDecorator(signature, 'classmethod') ? ['cls'] : [])]
  return signature.parameters.filter(({ name }) => !unnamed.includes(name))
}
