-- KEYS: active runs, the project's runs, the mark of the store's format, and for a token with a limit the set of its runs. ARGV: member of the
-- first, run id, the format, the limit or '', 'again' for an ended run that is to be reopened, else ''. Answers 'indexed', or when the limit is reached how many runs of the token have not ended. Those that have are taken out of the
-- set here, so it has at most one more than the limit (1,000).
-- An ended run stays in the project's list, so creating it again does not make it active again.
-- Also here: a service may have started while Redis was away, or Redis may have lost its data since.
redis.call('SET', KEYS[3], ARGV[3], 'NX')
if redis.call('ZSCORE', KEYS[ARGV[5] == 'again' and 1 or 2], ARGV[5] == 'again' and ARGV[1] or ARGV[2]) then return 'indexed' end
if KEYS[4] then
  local open = 0
  for _, member in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    if redis.call('ZSCORE', KEYS[1], member) then
      open = open + 1
    else
      redis.call('SREM', KEYS[4], member)
    end
  end
  if open >= tonumber(ARGV[4]) then return open end
  redis.call('SADD', KEYS[4], ARGV[1])
  redis.call('EXPIRE', KEYS[4], 30 * 24 * 3600)
end
local time = redis.call('TIME')
local at = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
redis.call('ZADD', KEYS[2], 'NX', at, ARGV[2])
redis.call('ZADD', KEYS[1], at, ARGV[1])
return 'indexed'
