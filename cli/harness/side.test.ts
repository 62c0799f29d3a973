import { describe, expect, it } from 'vitest'
import { parseComparedSide } from './side.ts'

describe('--compare', () => {
  it.each([
    ['http://gpu:8000/v1', { url: 'http://gpu:8000/v1', settings: {} }],
    ['http://a:1/v1,http://b:1/v1', { url: 'http://a:1/v1,http://b:1/v1', settings: {} }],
    ['rehearsal', { url: 'rehearsal', settings: {} }],
    ['tool_choice=auto,temperature=0.1', { settings: { toolChoice: 'auto', temperature: 0.1 } }],
    ['max_tokens=512, tool_guide=false', { settings: { maxTokens: 512, toolGuide: false } }],
    ['stream=true', { settings: { stream: true } }],
    ['constraint=json_schema', { settings: { constraint: 'json_schema' } }],
    ['url=http://gpu:8000/v1,model=a=b', { url: 'http://gpu:8000/v1', model: 'a=b', settings: {} }],
  ])('takes %s', (text, side) => {
    expect(parseComparedSide(text)).toEqual(side)
  })

  it.each([
    ['tool_choise=auto', /"tool_choise" is none \(did you mean tool_choice\?\)/],
    ['auto', /must be the URL of a model server, or settings of url, model, tool_choice/],
    ['', /"" is none/],
    ['tool_choice', /tool_choice needs a value: tool_choice=…/],
    ['tool_choice=none', /tool_choice must be required or auto/],
    ['constraint=json', /constraint must be one of none, json_schema/],
    ['temperature=warm', /temperature must be a number/],
    ['temperature=3', /temperature must be at most 2/],
    ['temperature=-1', /temperature must be a number/],
    ['max_tokens=0', /max_tokens must be above 0/],
    ['max_tokens=1.5', /max_tokens must be a whole number/],
    ['tool_guide=yes,temperature=', /temperature must be a number; tool_guide must be true or false/],
    ['temperature=0,temperature=1', /temperature is given twice/],
    ['url=gpu:8000', /url must be "rehearsal" or the http\(s\) URL/],
    ['model=', /model must be a name/],
  ])('refuses %j', (text, message) => {
    expect(() => parseComparedSide(text)).toThrow(message)
  })
})
