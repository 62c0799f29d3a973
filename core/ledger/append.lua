-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, lease in ms, (event age, event body)…
-- The answer says whether the run was stopped, '0' or '1', or 'lost'.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'n')
if op[1] ~= 'running' or op[2] ~= ARGV[2] then return 'lost' end
local stopped = is_stopped() and '1' or '0'
if tonumber(ARGV[3]) <= tonumber(op[3]) then return stopped end

local at = now()
redis.call('HSET', op_key, 'n', ARGV[3])
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), ARGV[1])
local events = {}
for i = 5, #ARGV do events[#events + 1] = ARGV[i] end
emit(at, events)
return stopped
