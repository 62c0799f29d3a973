import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { parseRunRequest } from './run-request.ts'

const known = ['docstring', 'lint']

function faultOf(body: unknown): string {
  try {
    parseRunRequest(body, known)
  } catch (error) {
    if (error instanceof AppError) return `${error.code} ${error.message}`
    throw error
  }
  throw new Error('it was accepted')
}

describe('parseRunRequest', () => {
  it('fills in what was left out', () => {
    expect(parseRunRequest({ agents: ['lint'] }, known).request).toEqual({
      agents: ['lint'],
      errorPolicy: 'skip_downstream',
      dryRun: false,
      limits: {},
      priority: 5,
      labels: {},
    })
  })

  it('keeps the nodes a run is limited to apart from what every reader of the run gets', () => {
    const nodes = ['n0123456789abcdef']
    const parsed = parseRunRequest({ agents: ['lint'], exclude: ['vendor'], nodes }, known)
    expect(parsed).toMatchObject({ request: { exclude: ['vendor'] }, nodes })
    expect(parsed.request).not.toHaveProperty('nodes')
    expect(faultOf({ agents: ['lint'], nodes: ['f'] })).toMatch(/^INTAKE_008 request\.nodes\.0: /)
  })

  it('takes the kinds of files to include, and names one that there is not', () => {
    expect(parseRunRequest({ agents: ['lint'], include: ['vendored', 'ignored'] }, known).request).toMatchObject({
      include: ['vendored', 'ignored'],
    })
    expect(faultOf({ agents: ['lint'], include: ['tests'] })).toMatch(/^INTAKE_008 request\.include\.0: .*"vendored"/)
  })

  it('keeps the policy to accept by, unless it is the default, and takes no other', () => {
    const { request } = parseRunRequest({ agents: ['lint'], accept: 'none' }, known)
    expect(request).toEqual(parseRunRequest({ agents: ['lint'] }, known).request)
    expect(parseRunRequest({ agents: ['lint'], accept: 'auto' }, known).request.accept).toBe('auto')
    expect(faultOf({ agents: ['lint'], accept: 'all' })).toMatch(/^INTAKE_008 .*accept/)
  })

  it.for([
    [{ paths: ['src', '/etc/passwd'] }, /^INTAKE_008 request\.paths: "\/etc\/passwd" is absolute/],
    [{ paths: ['C:\\src\\a.py'] }, /^INTAKE_008 request\.paths: "C:.*" is absolute/],
    [{ exclude: ['/etc/**'] }, /^INTAKE_008 request\.exclude: "\/etc\/\*\*" is absolute/],
    [{ paths: ['\\\\host\\share'] }, /^INTAKE_008 request\.paths: .* is absolute/],
    [{ paths: ['a\nb'] }, /^INTAKE_008 request\.paths\.0: has the control character \\u000a$/],
    [{ exclude: ['a', '\u001b[2J'] }, /^INTAKE_008 request\.exclude\.1: has the control character \\u001b$/],
    [{ agents: ['li\0nt'] }, /^INTAKE_008 request\.agents\.0: has the control character \\u0000$/],
    [{ node_kinds: ['class\u0085'] }, /^INTAKE_008 request\.node_kinds\.0: has the control character \\u0085$/],
    [{ labels: { team: 'a\0b' } }, /^INTAKE_008 request\.labels\.team: has the control character \\u0000$/],
    [{ labels: { 'te\tam': 'a' } }, /^INTAKE_008 request\.labels: has the control character \\u0009$/],
    [{ not_sent: [{ path: '/etc/x', reason: 'r' }] }, /^INTAKE_008 request\.not_sent\.0\.path: not a path inside/],
    [{ not_sent: [{ path: 'C:\\x', reason: 'r' }] }, /^INTAKE_008 request\.not_sent\.0\.path: not a path inside/],
    [{ not_sent: [{ path: 'a\tb', reason: 'r' }] }, /^INTAKE_008 request\.not_sent\.0\.path: has a control character/],
    [{ not_sent: [{ path: 'a', reason: '\u001b' }] }, /^INTAKE_008 request\.not_sent\.0\.reason: has a control/],
    [{ not_sent: [{ path: 'a', reason: 'r'.repeat(201) }] }, /^INTAKE_008 request\.not_sent\.0\.reason: /],
    [
      { not_sent: Array.from({ length: 1001 }, () => ({ path: 'a', reason: 'r' })) },
      /^INTAKE_008 request\.not_sent: .*1000/,
    ],
    [{ paths: ['a\0b'] }, /^INTAKE_008 request\.paths: .*NUL/],
    [{ exclude: ['a\0b'] }, /^INTAKE_008 request\.exclude: .*NUL/],
    [
      { languages: ['python', 'klingon'] },
      /^INTAKE_008 request\.languages: unknown language "klingon"; known: python, /,
    ],
  ] as const)('refuses %j at the door', ([fields, says]) => {
    expect(faultOf({ agents: ['lint'], ...fields })).toMatch(says)
  })

  it('takes lines and tabs in the text of a label', () => {
    const labels = { commit: 'first line\n\tsecond' }
    expect(parseRunRequest({ agents: ['lint'], labels }, known).request.labels).toEqual(labels)
  })

  it('names every field at fault', () => {
    const fault = faultOf({ agents: ['lint'], priority: 12, labels: { a: 1 }, colour: 'red' })
    expect(fault).toMatch(/^INTAKE_008/)
    for (const path of ['request.priority', 'request.labels.a', 'colour']) expect(fault).toContain(path)
  })

  it.for([null, [], 'lint', 7])('refuses %j, which is no request', (body) => {
    expect(faultOf(body)).toMatch(/^INTAKE_008 request: /)
  })

  it('says which agents there are when one is unknown', () => {
    expect(faultOf({ agents: ['lint', 'nobody'] })).toBe('INTAKE_006 unknown agent: nobody; known: docstring, lint')
  })

  it('says that an agent must be named, or an objective given', () => {
    for (const body of [{}, { agents: [] }])
      expect(faultOf(body)).toBe('INTAKE_008 request.agents: name at least one agent, or give an objective')
    expect(faultOf({ objective: ' \n' })).toMatch(/^INTAKE_008 request\.objective: /)
  })

  it.for(['every function has a docstring', 'lint', 'ls -la', './x', 'a && b', 'first line\n\tsecond'])(
    'takes the objective %j as it is, and no agent from its words',
    (objective) => {
      const { request } = parseRunRequest({ objective }, known)
      expect([request.objective, request.agents]).toEqual([objective, []])
    },
  )

  it('keeps the agents that an objective is planned within, and that its plan is to be approved', () => {
    const body = { objective: 'tidy up', agents: ['lint', 'lint'], approval: 'plan' }
    expect(parseRunRequest(body, known).request).toMatchObject({
      objective: 'tidy up',
      agents: ['lint'],
      approval: 'plan',
    })
    expect(faultOf({ ...body, agents: ['nobody'] })).toMatch(/^INTAKE_006 /)
    expect(faultOf({ ...body, objective: 'a\0b' })).toBe(
      'INTAKE_008 request.objective: has the control character \\u0000',
    )
    expect(faultOf({ agents: ['lint'], approval: 'plan' })).toMatch(/^INTAKE_008 request\.approval: only a run with an/)
  })

  it('refuses an unknown field instead of ignoring it', () => {
    expect(faultOf({ agents: ['lint'], acceptance: 'auto' })).toBe('INTAKE_008 request: Unrecognized key: "acceptance"')
  })

  it.for([
    ['+(*a|*b)+(*a|*b)z', /groups such as/],
    ['!tests', /cannot be said with "!"/],
    ['{a,b}'.repeat(20), /more than 200 patterns/],
  ] as const)('refuses the path pattern %s', ([pattern, fault]) => {
    expect(faultOf({ agents: ['lint'], paths: ['src', pattern] })).toMatch(/^INTAKE_008 request\.paths: /)
    expect(faultOf({ agents: ['lint'], paths: [pattern] })).toMatch(fault)
    expect(faultOf({ agents: ['lint'], exclude: [pattern] })).toMatch(/^INTAKE_008 request\.exclude: /)
  })
})
