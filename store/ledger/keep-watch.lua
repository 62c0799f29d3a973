-- Further KEYS: watch. ARGV: token of the process, version of the state, the state, origin kind, origin id, number of questions about the run,
-- (the event that a question follows from, counted from 1 in those that come here, the question)…, (event age, event body)…
-- Keeps the state if it follows on the version that is there, and adds events and questions unless the run has ended. Answers 'kept', and
-- 'lost' when another process has kept one meanwhile.
local refused = refusal()
if refused then return refused end
local watch = KEYS[own_keys + 1]
local held = redis.call('HMGET', watch, 'token', 'version')
if held[1] == ARGV[1] and held[2] == ARGV[2] then return 'kept' end
if tonumber(held[2] or '0') + 1 ~= tonumber(ARGV[2]) then return 'lost' end
redis.call('HSET', watch, 'token', ARGV[1], 'version', ARGV[2], 'state', ARGV[3])
if not is_stopped() then
  local at, questions = now(), tonumber(ARGV[6])
  local first_event = 7 + 2 * questions
  local before = tonumber(redis.call('HGET', keys.run, 'seq'))
  emit(at, ARGV, first_event)
  for i = 7, first_event - 1, 2 do
    local request, question = 'q' .. text(redis.call('HINCRBY', keys.run, 'asked', 1)), cjson.decode(ARGV[i + 1])
    local asked = { request_id = request, question = question.text, choices = question.choices, path = '', qualified_name = '' }
    local of = { bundle = question.bundle, cause = text(before + tonumber(ARGV[i])) }
    local seq = emit(at, { 0, body_of('human_input.requested', { ARGV[4], ARGV[5] }, of, asked) })
    question.requestId, question.askedAt, question.seq = request, at, seq
    redis.call('HSET', keys.questions, request, cjson.encode(question))
    redis.call('HSET', keys.run, 'own_questions', own_questions() .. request .. ' ')
  end
end
reserve(watch, 0)
return 'kept'
