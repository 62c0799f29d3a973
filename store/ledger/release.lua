-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, reason, delay in ms, origin kind, origin id, hash of
-- the record that the next attempt resumes from, cost so far, how often its model has failed it in a row, how often busy
-- servers have turned it away in a row (each of the four may be empty: as before), (event age, event body)…
-- The token stays until the next claim, so that its holder learns that a release it sends again was applied.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'attempt')
if op[2] ~= ARGV[2] then return 'lost' end
if op[1] ~= 'running' then return 'already' end

local at = now()
local id, origin = ARGV[1], { ARGV[6], ARGV[7] }
local events = {}
for i = 12, #ARGV do events[#events + 1] = ARGV[i] end
redis.call('HSET', op_key, 'n', ARGV[3])
if is_stopped() then
  emit(at, events)
  cancel_operation(id, 'running', at, origin)
  advance_run(at)
  return 'released'
end
if ARGV[4] == 'store' then redis.call('HINCRBY', op_key, 'store_faults', 1) end
if ARGV[10] ~= '' then redis.call('HSET', op_key, 'model_faults', ARGV[10]) end
if ARGV[11] ~= '' then redis.call('HSET', op_key, 'busy_faults', ARGV[11]) end
if ARGV[8] ~= '' then
  redis.call('HSET', op_key, 'suspension', ARGV[8], 'handed_back', '1', 'spent', ARGV[9])
end
local data = with_node(id, { attempt = tonumber(op[3]), reason = ARGV[4] })
events[#events + 1] = 0
events[#events + 1] = body_of('operation.retried', origin, described(id), data)
make_ready(id, 'running', at, tonumber(ARGV[5]))
emit(at, events)
return 'released'
