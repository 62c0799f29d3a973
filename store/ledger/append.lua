-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, lease in ms, what it does now as JSON or '' (as before),
-- what it has said since the last time as JSON or '' (nothing), the tokens to reserve for its next request once these events are counted or
-- '' (none), (event age, event body)…
-- Answers 'ok'; 'limited' when there is a budget, so that requests need a reservation; 'full' when what was to be reserved does not fit,
-- then nothing is; 'stop' when the run was stopped and what runs may not finish; 'lost' when the attempt no longer has the operation.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'n', 'reserved', 'item')
if op[1] ~= 'running' or op[2] ~= ARGV[2] then return 'lost' end
local run = redis.call('HMGET', keys.run, 'cancel', 'status', 'let_finish', 'budget', 'granted', 'bound')
local of_item = op[5] and room_of(op[5]) or nil
local answer = (run[4] or run[5] or of_item) and 'limited' or 'ok'
if is_stopped(run) and run[3] ~= '1' then answer = 'stop' end
local wanted = answer == 'limited' and tonumber(ARGV[7])
if tonumber(ARGV[3]) <= tonumber(op[3]) then
  if wanted and op[4] ~= ARGV[7] then return 'full' end
  return answer
end

local at = now()
redis.call('HSET', op_key, 'n', ARGV[3])
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), ARGV[1])
if ARGV[5] ~= '' then redis.call('HSET', keys.doing, ARGV[1], ARGV[5]) end
if ARGV[6] ~= '' then
  redis.call('RPUSH', prefix .. 'talk:' .. ARGV[1], ARGV[6])
  told = tonumber(redis.call('HGET', keys.run, 'seq')) -- those who follow it are told, also without an event
end
emit(at, ARGV, 8)
spend_of(op[5])
-- An answer is there: what was reserved for it is settled by what it says.
if op[4] and (has_answer or wanted) then reserve(op_key, 0) end
if not wanted then return answer end
local bound = tonumber(run[6] or ARGV[7])
redis.call('HSET', keys.run, 'bound', text(bound + (wanted - bound) / 8))
if (room() or math.huge) < wanted or of_item and room_of(op[5]) < wanted then
  redis.call('HSET', op_key, 'needs', ARGV[7])
  return 'full'
end
reserve(op_key, wanted)
redis.call('HDEL', op_key, 'needs')
return answer
