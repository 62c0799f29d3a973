import { z } from 'zod'
import { allCapabilities, Capabilities } from '../wire/capabilities.ts'

const Name = Capabilities.keyof()
type Name = z.infer<typeof Name>
type Flag = Exclude<Name, 'ebnf'>

/** `taken_as_grammar`: a grammar, in llama.cpp's `grammar`; ignored: the server takes it, and does not do it. */
const Finding = z.enum(['taken', 'taken_as_grammar', 'refused', 'ignored'])
export type Finding = z.infer<typeof Finding>

/** What probes have found out of one server and model. */
export const Findings = z.strictObject({
  /** The last that was found of each; what is absent was never found out. */
  found: z.partialRecord(Name, Finding),
  /** Whose last probe said nothing: asked again before the others. */
  unclear: z.array(Name),
  /** How many probes in a row left something unclear. */
  misses: z.int().min(0),
})
export type Findings = z.infer<typeof Findings>

export const noFindings: Findings = { found: {}, unclear: Name.options, misses: 0 }

/** What is lacking, and how. */
export type Lacks = { [name in Name]?: 'refused' | 'ignored' }

/** What was never found out is assumed to be taken. */
export function capabilitiesOf(findings: Pick<Findings, 'found'>): Capabilities {
  const lacks = lacksOf(findings)
  const capabilities = { ...allCapabilities }
  for (const name of Name.options) {
    if (isFlag(name)) capabilities[name] = lacks[name] === undefined
  }
  if (findings.found.ebnf === 'taken_as_grammar') capabilities.ebnf = 'grammar'
  if (lacks.ebnf !== undefined) capabilities.ebnf = 'none'
  return capabilities
}

export function lacksOf({ found }: Pick<Findings, 'found'>): Lacks {
  const lacks: Lacks = {}
  for (const name of Name.options) {
    const finding = found[name]
    if (finding === 'refused' || finding === 'ignored') lacks[name] = finding
  }
  return lacks
}

function isFlag(name: Name): name is Flag {
  return name !== 'ebnf'
}
