-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, origin kind, origin id, hash of the record that the next
-- attempt resumes from and cost so far (both may be empty: as before), 'release', 'suspend' or 'defer', then
-- release: reason, delay in ms, how often its model has failed it in a row, how often busy servers have turned it away in a row (each
-- of the last two may be empty: as before); suspend: question, what its event shows of it, how long it may be answered in ms, the name
-- of the stored data of that event, where it is too large to be here, or ''; defer: the tool, what the operation does from now on as JSON, how
-- long its worker may be silent in ms, '';
-- then what the attempt has said since the last time as JSON, 'keep' for nothing, or '' where a record has all that it said and nothing
-- is kept; last (event age, event body)…
-- The token stays until the next claim, so that its holder learns that what it sends again was applied.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'attempt', 'item')
if op[2] ~= ARGV[2] then return 'lost' end
if op[1] ~= 'running' then return 'already' end

local at = now()
local id, origin, attempt = ARGV[1], { ARGV[4], ARGV[5] }, tonumber(op[3])
redis.call('HSET', op_key, 'n', ARGV[3])
local talk = prefix .. 'talk:' .. id
if ARGV[13] ~= '' and ARGV[13] ~= 'keep' then redis.call('RPUSH', talk, ARGV[13]) end
emit(at, ARGV, 14)
spend_of(op[4])
if is_stopped() then
  cancel_operation(id, 'running', at, origin)
  advance_run(at)
  return 'done'
end

if ARGV[13] == '' then redis.call('DEL', talk) end
if ARGV[8] == 'release' then
  if ARGV[9] == 'store' then redis.call('HINCRBY', op_key, 'store_faults', 1) end
  if ARGV[11] ~= '' then redis.call('HSET', op_key, 'model_faults', ARGV[11]) end
  if ARGV[12] ~= '' then redis.call('HSET', op_key, 'busy_faults', ARGV[12]) end
  if ARGV[6] ~= '' then redis.call('HSET', op_key, 'suspension', ARGV[6], 'handed_back', '1', 'spent', ARGV[7]) end
  make_ready(id, 'running', at, tonumber(ARGV[10]))
  report(id, 'operation.retried', origin, with_node(id, { attempt = attempt, reason = ARGV[9] }), at)
  return 'done'
end

if ARGV[8] == 'defer' then
  -- Its record has all that the next attempt needs, as that of one that was handed back.
  change_status(id, 'running', 'waiting', 'suspension', ARGV[6], 'handed_back', '1', 'question', 'tool', 'spent', ARGV[7])
  redis.call('HSET', keys.doing, id, ARGV[10])
  redis.call('HINCRBY', keys.run, 'deferred', 1)
  redis.call('ZADD', keys.waiting, text(at + tonumber(ARGV[11])), id)
  report(id, 'operation.suspended', origin, with_node(id, { reason = 'tool', tool = ARGV[9], attempt = attempt }), at)
  advance_run(at)
  return 'done'
end

local request = 'q' .. text(redis.call('HINCRBY', keys.run, 'asked', 1))
local question, shown = cjson.decode(ARGV[9]), cjson.decode(ARGV[10])
local expires = at + tonumber(ARGV[11])
question.requestId, question.askedAt, question.expiresAt = request, at, expires
redis.call('HSET', keys.questions, request, cjson.encode(question))
redis.call('HDEL', op_key, 'handed_back')
change_status(id, 'running', 'waiting', 'suspension', ARGV[6], 'question', request, 'spent', ARGV[7])
redis.call('ZADD', keys.waiting, text(expires), id)
local function of_question(data)
  data.request_id, data.attempt = request, attempt
  return with_node(id, data)
end
local asked = of_question({ question = shown.question, choices = shown.choices, call = shown.call, expires_at = expires })
report(id, 'human_input.requested', origin, asked, at, ARGV[12] ~= '' and ARGV[12] or nil)
report(id, 'operation.suspended', origin, of_question({}), at)
answer_allowed(request, question, at, origin) -- it may have been allowed since the worker looked
advance_run(at)
return 'done'
