-- Further KEYS: watch. ARGV: token of the process, version of the state, the state, (event age, event body)…
-- Keeps the state if it follows on the version that is there, and adds the events unless the run has ended. Answers 'kept', and 'lost' when
-- another process has kept one meanwhile.
local refused = refusal()
if refused then return refused end
local watch = KEYS[own_keys + 1]
local held = redis.call('HMGET', watch, 'token', 'version')
if held[1] == ARGV[1] and held[2] == ARGV[2] then return 'kept' end
if tonumber(held[2] or '0') + 1 ~= tonumber(ARGV[2]) then return 'lost' end
redis.call('HSET', watch, 'token', ARGV[1], 'version', ARGV[2], 'state', ARGV[3])
if not is_stopped() then emit(now(), ARGV, 4) end
reserve(watch, 0)
return 'kept'
