-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, lease in ms, (event age, event body)…
-- The answer is the run's cancel flag, '0' or '1', or 'lost'.
local op = redis.call('HMGET', KEYS[10], 'status', 'token', 'n')
if op[1] ~= 'running' or op[2] ~= ARGV[2] then return 'lost' end
local run = redis.call('HMGET', keys.run, 'cancel', 'status')
local cancel = '0'
if run[1] == '1' or run_has_ended[run[2]] then cancel = '1' end
if tonumber(ARGV[3]) <= tonumber(op[3]) then return cancel end

local at = now()
redis.call('HSET', KEYS[10], 'n', ARGV[3])
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), ARGV[1])
local events = {}
for i = 5, #ARGV do events[#events + 1] = ARGV[i] end
emit(at, events)
return cancel
