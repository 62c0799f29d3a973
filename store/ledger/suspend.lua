-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, question, what its event shows of it, how long it
-- may be answered in ms, hash of the record that the next attempt resumes from, cost so far, origin kind, origin id,
-- (event age, event body)…
-- The token stays until the next claim, so that its holder learns that a suspend it sends again was applied.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'attempt')
if op[2] ~= ARGV[2] then return 'lost' end
if op[1] ~= 'running' then return 'already' end

local at = now()
local id, origin = ARGV[1], { ARGV[9], ARGV[10] }
local events = {}
for i = 11, #ARGV do events[#events + 1] = ARGV[i] end
redis.call('HSET', op_key, 'n', ARGV[3])
if is_stopped() then
  emit(at, events)
  cancel_operation(id, 'running', at, origin)
  advance_run(at)
  return 'suspended'
end

local request = 'q' .. text(redis.call('HINCRBY', keys.run, 'asked', 1))
local question = cjson.decode(ARGV[4])
local expires = at + tonumber(ARGV[6])
question.requestId, question.askedAt, question.expiresAt = request, at, expires
redis.call('HSET', keys.questions, request, cjson.encode(question))
redis.call('HDEL', op_key, 'handed_back')
change_status(id, 'running', 'waiting', 'suspension', ARGV[7], 'question', request, 'spent', ARGV[8])
redis.call('ZADD', keys.waiting, text(expires), id)

local operation = described(id)
local attempt = tonumber(op[3])
local function add(name, data)
  data.request_id, data.attempt, data.path, data.qualified_name = request, attempt, question.path, question.qualifiedName
  events[#events + 1] = 0
  events[#events + 1] = body_of(name, origin, operation, data)
end
local shown = cjson.decode(ARGV[5])
add('human_input.requested', { question = shown.question, choices = shown.choices, expires_at = expires })
add('operation.suspended', {})
emit(at, events)
advance_run(at)
return 'suspended'
