import { z } from 'zod'
import { CodeFinding, FindingSeverity } from '#domain/code-finding.ts'
import { NodeId, OperationId } from '#domain/id-schemas.ts'

const { shape } = CodeFinding

export const SeverityShape = FindingSeverity.meta({ id: 'FindingSeverity' })

/** Shows what an agent claims about some lines of a file. */
export const FindingView = z
  .strictObject({
    claim: shape.claim,
    path: z.string(),
    line: shape.line.meta({ description: 'from 1, as the file was when the agent read it' }),
    end_line: shape.endLine.meta({ description: 'the last line it is about' }),
    line_text: shape.lineText.meta({
      description: 'the first line without indentation; empty where it is longer than 200 characters',
    }),
    severity: SeverityShape,
    confidence: shape.confidence.meta({ description: '0 to 1, as the agent says it' }),
    rule: shape.rule.meta({ description: "the agent's name for this kind of finding" }),
    agent: z.string(),
    operation_id: OperationId,
    node_id: NodeId.meta({ description: 'of the operation: what it is about may be elsewhere' }),
    qualified_name: z.string().meta({ description: 'of that node' }),
  })
  .meta({ id: 'Finding' })
export type FindingView = z.infer<typeof FindingView>

export const FindingPage = z
  .strictObject({ findings: z.array(FindingView), next: z.string().nullable() })
  .meta({ id: 'FindingPage' })
