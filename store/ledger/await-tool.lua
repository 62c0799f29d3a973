-- Further KEYS: op:<O>. ARGV: operation, token of the attempt that was suspended for a tool, how long its worker may be silent in ms,
-- origin kind, origin id, then '' to wait on, or the hash of the record that the next attempt resumes from: the same as before when that is to
-- run the tool once more. Answers 'lost' when the operation does not wait for it any more.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'question', 'suspension')
if op[1] ~= 'waiting' or op[2] ~= ARGV[2] or op[3] ~= 'tool' or is_stopped() then return 'lost' end
local id, at = ARGV[1], now()
if ARGV[6] == '' then
  redis.call('ZADD', keys.waiting, text(at + tonumber(ARGV[3])), id)
  return 'ok'
end
redis.call('HSET', op_key, 'suspension', ARGV[6])
end_tool_wait(id, at, { ARGV[4], ARGV[5] }, op[4] == ARGV[6])
advance_run(at)
return 'ok'
