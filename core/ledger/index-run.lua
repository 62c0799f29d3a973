-- KEYS: active runs, the project's runs. ARGV: member of the first, run id.
-- An ended run stays in the project's list, so creating it again does not make it active again.
local time = redis.call('TIME')
local at = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
if redis.call('ZADD', KEYS[2], 'NX', at, ARGV[2]) == 1 then redis.call('ZADD', KEYS[1], at, ARGV[1]) end
return 'indexed'
