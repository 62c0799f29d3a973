-- Further KEYS: op:<O>, after:<O>. ARGV: operation, token, the attempt's counter, status, outcome, result, number of its
-- change sets, these, (event age, event body)…
-- The token stays with the ended operation, so that its holder learns that a settle it sends again was applied.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token')
if op[2] ~= ARGV[2] then return 'lost' end
if has_ended[op[1]] then return 'already' end
if op[1] ~= 'running' then return 'lost' end

local at = now()
local change_sets = tonumber(ARGV[7])
for i = 8, 7 + change_sets do redis.call('HSET', keys.change_sets, ARGV[i], ARGV[1]) end
local events = {}
for i = 8 + change_sets, #ARGV do events[#events + 1] = ARGV[i] end
redis.call('HSET', op_key, 'n', ARGV[3])
end_operation(ARGV[1], 'running', at, { status = ARGV[4], outcome = ARGV[5], result = ARGV[6], events = events })
advance_run(at)
return 'settled'
