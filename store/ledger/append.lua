-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, lease in ms, what it does now as JSON or '' (as before),
-- what it has said since the last time as JSON or '' (nothing), (event age, event body)…
-- Answers 'ok'; 'stop' when the run was stopped and what runs may not finish; 'lost' when the attempt no longer has the operation.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'n')
if op[1] ~= 'running' or op[2] ~= ARGV[2] then return 'lost' end
local run = redis.call('HMGET', keys.run, 'cancel', 'status', 'let_finish')
local answer = is_stopped(run) and run[3] ~= '1' and 'stop' or 'ok'
if tonumber(ARGV[3]) <= tonumber(op[3]) then return answer end

local at = now()
redis.call('HSET', op_key, 'n', ARGV[3])
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), ARGV[1])
if ARGV[5] ~= '' then redis.call('HSET', keys.doing, ARGV[1], ARGV[5]) end
if ARGV[6] ~= '' then
  redis.call('RPUSH', prefix .. 'talk:' .. ARGV[1], ARGV[6])
  told = tonumber(redis.call('HGET', keys.run, 'seq')) -- those who follow it are told, also without an event
end
emit(at, ARGV, 7)
return answer
